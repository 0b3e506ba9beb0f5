// Messages that answer an update which this bridge has not read yet → kept until it is read, or refused where it does not come.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EVENT_ID } from '../../../support/events.ts';
import { type ApprovalBench, approvalsOverOneEvent, caller } from '../../../virtual/approvals-fixture.ts';
import { letter, take, verdictOf } from '../../../virtual/inbox-fixture.ts';

const KEY = EVENT_ID.toLowerCase();
const QUEUE = { source: 'queue', approver: 'orders', canGiveBack: true };
const UPDATE = `${KEY}:updated:0123456789abcdef`;
const answering = (...seen: readonly string[]) => ({ StartRequests: seen.map((Seen) => ({ EventId: EVENT_ID, Seen })) });

/** The next document brings the update that has this id. */
function update(bench: ApprovalBench, id = UPDATE): void {
  bench.list(EVENT_ID, { durationInSeconds: 9 });
  const event = bench.service.get(KEY);
  assert.ok(event);
  bench.store.seenEvents.set(id, { change: 'updated', key: KEY, occurrence: 1, event });
  bench.poll();
}

test('a message that answers an update which this bridge has not read yet waits for it', async (t) => {
  for (const id of [UPDATE, `${UPDATE}:r2`]) {
    const { bench, approvals } = approvalsOverOneEvent(t);
    assert.equal(await take(bench, approvals, letter(bench, answering(id))), 'settle');
    await bench.time.advance(59_000);
    bench.poll();
    assert.deepEqual([bench.store.told, bench.messages], [[], ['topic parked']]);
    update(bench, id);
    assert.deepEqual([bench.store.told, bench.messages], [['approval.recorded orders'], ['topic parked', 'topic settled']]);
  }
});

test('where that update does not come within 60 s the message is refused as seen-unknown, once', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t);
  await take(bench, approvals, letter(bench, answering(UPDATE)));
  await bench.time.advance(59_999);
  assert.deepEqual(bench.store.told, []);
  await bench.time.advance(1);
  assert.deepEqual([bench.store.told, bench.store.messages.parked()], [['approval.failed seen-unknown orders'], []]);
});

test('an answer to what no update of this event can be is refused at once', async (t) => {
  const { bench, approvals } = approvalsOverOneEvent(t);
  const foreign = UPDATE.replace(KEY, 'other');
  bench.store.seenEvents.set(`${UPDATE}:r3`, {
    change: 'started',
    key: KEY,
    occurrence: 1,
    event: bench.known(KEY)?.event ?? assert.fail(),
  });
  for (const id of ['nothing', `${KEY}:scheduled:r2`, `${KEY}:updated:0123`, UPDATE.toUpperCase(), `${UPDATE}:r`, foreign, `${UPDATE}:r3`])
    assert.equal(await take(bench, approvals, letter(bench, answering(id))), 'seen-unknown', id);
});

test('a request that answers such an update is refused at once: who asks is told, and can ask again', async (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  const answer = await approvals.request(caller('orders'), answering(UPDATE));
  assert.deepEqual('type' in answer && [answer.status, answer.type], [404, 'seen-unknown']);
});

test('a message of a queue waits for such an update as long as for an event, and is then refused, since the event is known here', async (t) => {
  for (const comes of [true, false]) {
    const { bench, approvals } = approvalsOverOneEvent(t);
    const taken = approvals.take(QUEUE, letter(bench, answering(UPDATE)));
    await bench.time.advance(999);
    assert.deepEqual(bench.messages, []);
    if (comes) update(bench);
    assert.equal(await verdictOf(bench, taken, 5000), comes ? 'settle' : 'seen-unknown');
  }
});
