// StartRequests and answers of bridges and of the model → no fault, or which count.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FoundFault } from '../found-fault.ts';
import { expectPosts } from './group.ts';
import { expectHold } from './player.ts';
import type { TracePost } from './traces.ts';

function faultOf(posts: readonly TracePost[], wanted: readonly TracePost[]): string | null {
  try {
    expectPosts(posts, wanted);
    return null;
  } catch (error) {
    return (error as FoundFault).fault;
  }
}

test('the same StartRequests in the same ticks are no fault', () => {
  assert.equal(faultOf([[0, 1]], [[0, 1]]), null);
  assert.equal(
    faultOf(
      [
        [0, 1],
        [0, 1],
      ],
      [
        [0, 1],
        [0, 1],
      ],
    ),
    null,
  );
});

test('a StartRequest that the model does not have is forbidden, a repeated one twice, a missing one lost', () => {
  assert.equal(faultOf([[1, 0]], [[1, 2]]), 'forbidden');
  assert.equal(
    faultOf(
      [
        [0, 1],
        [0, 1],
      ],
      [[0, 1]],
    ),
    'twice',
  );
  assert.equal(faultOf([], [[0, 1]]), 'lost');
});

test('a hold that is refused for no reason is lost, and one that cannot be kept is forbidden', () => {
  assert.doesNotThrow(() => expectHold(201, true, 'bridge 1'));
  assert.doesNotThrow(() => expectHold(409, false, 'bridge 1'));
  assert.throws(() => expectHold(409, true, 'bridge 1'), { fault: 'lost' });
  assert.throws(() => expectHold(201, false, 'bridge 1'), { fault: 'forbidden' });
});
