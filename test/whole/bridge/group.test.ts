// Five bridges under `submit: leader`, some in trouble → who posts, and when (behaviour 8.9).
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { VirtualGroup } from '../../virtual/virtual-group.ts';

/**
 * The platform starts the event long after the approval (protocol 5.2), so that each rank's turn comes while it is
 * still Scheduled.
 */
const NOT_AT_ONCE = { otherTenants: '10m' };

function groupOf(t: TestContext, group: object = {}): VirtualGroup {
  return new VirtualGroup(t, {
    // A request that is 12 s on its way is not given up.
    metadata: { timeout: '30s' },
    approvals: { policy: [{ when: {}, then: 'approve' }], group: { submit: 'leader', failoverAfter: '10s', ...group } },
  });
}

test('all alive and the event starts at once: the leader alone posts, once', async (t) => {
  const group = groupOf(t);
  await group.start();
  group.schedule();
  await group.advance(120);
  assert.deepEqual(group.posts(), [['sim_0', 1, 200]]);
});

test('accepted, but the platform does not start it: each rank posts once, failoverAfter apart, and then none', async (t) => {
  const group = groupOf(t);
  await group.start();
  group.schedule(NOT_AT_ONCE);
  await group.advance(300);
  const expected = [0, 1, 2, 3, 4].map((rank) => [`sim_${rank}`, 1 + 10 * rank, 200]);
  assert.deepEqual(group.posts(), expected);
});

test('the leader never ran: the next rank posts after failoverAfter, alone', async (t) => {
  const group = groupOf(t);
  await group.start(1, 2, 3, 4);
  group.schedule();
  await group.advance(120);
  assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
});

test('only the last rank is alive: it posts when its turn has come', async (t) => {
  const group = groupOf(t);
  await group.start(4);
  group.schedule();
  await group.advance(120);
  assert.deepEqual(group.posts(), [['sim_4', 41, 200]]);
});

test('the leader is killed before it has read of the event: the next rank posts', async (t) => {
  const group = groupOf(t);
  await group.start();
  group.schedule();
  await group.machine(0).bridge.kill();
  await group.advance(120);
  assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
});

test('the leader is killed after its decision and before its post: the next rank posts, and the leader, started again, does too while it waits', async (t) => {
  const group = groupOf(t);
  group.machine(0).cutOff = 'POST';
  await group.start();
  group.schedule(NOT_AT_ONCE);
  await group.advance(5);
  await group.machine(0).bridge.kill();
  group.machine(0).cutOff = 'none';
  await group.advance(10);
  await group.machine(0).bridge.start();
  await group.advance(3);
  assert.deepEqual(group.posts(), [
    ['sim_1', 11, 200],
    ['sim_0', 15, 200],
  ]);
});

test('the leader is killed after its StartRequest was accepted: after its restart it does not post again', async (t) => {
  const group = groupOf(t);
  await group.start(0);
  group.schedule(NOT_AT_ONCE);
  await group.advance(5);
  await group.machine(0).bridge.kill();
  await group.start(0);
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_0', 1, 200]]);
});

test('the leader is frozen when the event comes: the next rank posts, and the leader wakes to an event that has started', async (t) => {
  const group = groupOf(t);
  await group.start();
  group.machine(0).clock.freeze();
  group.schedule();
  await group.advance(30);
  group.machine(0).clock.thaw();
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
});

test('a rank that froze while it waited for its turn reads the document before it posts', async (t) => {
  const group = groupOf(t);
  await group.start(1, 2, 3);
  group.schedule();
  await group.advance(5);
  group.machine(1).clock.freeze();
  await group.advance(30);
  group.machine(1).clock.thaw();
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_2', 21, 200]]);
});

test('frozen while the platform lets everybody wait: the leader wakes and posts too, once', async (t) => {
  const group = groupOf(t);
  await group.start();
  group.machine(0).clock.freeze();
  group.schedule(NOT_AT_ONCE);
  await group.advance(30);
  group.machine(0).clock.thaw();
  await group.advance(120);
  assert.deepEqual(group.posts(), [
    ['sim_1', 11, 200],
    ['sim_2', 21, 200],
    ['sim_0', 30, 200],
    ['sim_3', 31, 200],
    ['sim_4', 41, 200],
  ]);
});

for (const since of ['before the event came', 'after its decision'] as const) {
  test(`the leader is cut off from the metadata service since ${since}: the next rank posts, and the leader does not when it is back`, async (t) => {
    const group = groupOf(t);
    await group.start();
    group.machine(0).cutOff = since === 'after its decision' ? 'POST' : 'all';
    group.schedule();
    await group.advance(2);
    group.machine(0).cutOff = 'all';
    await group.advance(28);
    group.machine(0).cutOff = 'none';
    await group.advance(60);
    assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
  });
}

test('the leader reads, but none of its StartRequests arrives: the next rank posts', async (t) => {
  const group = groupOf(t);
  group.machine(0).cutOff = 'POST';
  await group.start();
  const eventId = group.schedule();
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
  assert.equal((await group.lifeAt(0, eventId))['state'], 'moot');
});

test('the leader decides 12 s late: the next rank has posted, and the leader has nothing to do', async (t) => {
  const group = groupOf(t);
  await group.start();
  group.machine(0).cutOff = 'all';
  group.schedule();
  await group.advance(12);
  group.machine(0).cutOff = 'none';
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
});

test("the leader's StartRequest arrives 12 s late: the next rank has posted, and the second one does no harm", async (t) => {
  const group = groupOf(t);
  group.machine(0).transit.thereMs = 12_000;
  await group.start();
  const eventId = group.schedule();
  await group.advance(60);
  assert.deepEqual(group.posts(), [
    ['sim_1', 11, 200],
    ['sim_0', 13, 200],
  ]);
  const { Events } = group.machine(4).bridge.simulation.document();
  assert.deepEqual(
    Events.map(({ EventId, EventStatus }) => [EventId, EventStatus]),
    [[eventId, 'Started']],
  );
});

test('the event names the hung machine alone: the partner among the members posts for it, and no other machine', async (t) => {
  const group = groupOf(t, { members: ['SIM_1', 'sim_3'] });
  await group.start(0, 1, 2, 4);
  group.schedule({ Resources: ['sim_3'], EventSource: 'User', EventType: 'Reboot' });
  await group.advance(120);
  assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
});

test('the event names one of two partners, both alive: it posts itself', async (t) => {
  const group = groupOf(t, { members: ['sim_1', 'sim_3'] });
  await group.start();
  group.schedule({ Resources: ['sim_3'] });
  await group.advance(120);
  assert.deepEqual(group.posts(), [['sim_3', 1, 200]]);
});
