// A group, clocks and a restart → when this bridge posts, and what one before it may have posted.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { drillEventId } from '../../../../src/model/ids.ts';
import {
  type ApprovalSettings,
  ApprovalsFixture,
  approvalsOverOneEvent,
  change,
  KEY,
  reopened,
  STARTED,
} from '../../../virtual/approvals-fixture.ts';
import { settle } from '../../../virtual/virtual-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A rule decides at once. `ownName` is the rank 0, 1 or 2, whose turn comes after 0, 10 or 20 s. */
function ranked(ownName: 'WestNO_0' | 'WestNO_1' | 'third'): ApprovalSettings {
  const group = { submit: 'leader', failoverAfterMs: 10_000, members: ['third'] } as const;
  return { policy: [{ when: {}, then: 'approve' }], group, ownName };
}

/** A process that decided, read a document 5 s later, and was killed. The next one starts after `downMs`. */
async function restarted(t: TestContext, settings: ApprovalSettings, downMs: number, jumpMs = 0) {
  const { fixture } = approvalsOverOneEvent(t, settings);
  await fixture.time.advance(5000);
  fixture.poll();
  fixture.time.pass(downMs);
  fixture.time.jumpWall(jumpMs);
  const approvals = reopened(fixture, settings);
  t.after(() => fixture.close(approvals));
  return fixture;
}

for (const [what, rank, downMs, jumpMs, state] of [
  ['it came less than 10 s after the last document', 'WestNO_1', MINUTE, 0, 'unknown'],
  ['it came later than that', 'third', MINUTE, 0, 'moot'],
  ['the clock was set back by an hour since then', 'WestNO_1', MINUTE, -HOUR, 'unknown'],
  ['the clock was set back by a second since then', 'WestNO_1', 0, -1000, 'unknown'],
] as const)
  test(`an event starts while a bridge is down, and of its turn to post: ${what}: ${state}`, async (t) => {
    const fixture = await restarted(t, ranked(rank), downMs, jumpMs);
    change(fixture, STARTED);
    assert.equal(fixture.store.stored(KEY, 1)?.state, state);
    assert.equal(fixture.posts.length, 0);
  });

test('after a restart with a clock that was set back, the turn counts from the start of the process', async (t) => {
  const fixture = await restarted(t, ranked('WestNO_1'), 0, -HOUR);
  assert.equal(await fixture.postsAfter(9999), 0);
  assert.equal(await fixture.postsAfter(1), 1);
});

test('a drill waits for no other machine, and is accepted by one that never posts', async (t) => {
  const fixture = new ApprovalsFixture();
  const id = drillEventId('11111111-2222-3333-4444-555555555555');
  const approvals = fixture.open({ ...ranked('WestNO_0'), ownName: 'elsewhere' });
  t.after(() => fixture.close(approvals));
  fixture.list(id);
  fixture.poll();
  await settle();
  assert.deepEqual(fixture.drillsApproved, [id]);
  assert.equal(approvals.summary(id)?.state, 'submitted');
});
