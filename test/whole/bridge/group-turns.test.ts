// Restarts, wrong clocks, new Resources under `submit: leader` → when each bridge's turn is.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';
import { VirtualGroup } from '../../virtual/virtual-group.ts';

function settings(group: object = {}, more: Settings = {}): Settings {
  return {
    approvals: { policy: [{ when: {}, then: 'approve' }], group: { submit: 'leader', failoverAfter: '10s', ...group } },
    ...more,
  };
}

function groupOf(t: TestContext, group: object = {}): VirtualGroup {
  return new VirtualGroup(t, settings(group));
}

test('a machine that is neither named nor a member never posts, and shows that it has no rank', async (t) => {
  const group = groupOf(t);
  await group.start(0, 1, 2, 4);
  const eventId = group.schedule({ Resources: ['sim_3'] });
  await group.advance(600);
  assert.deepEqual(group.posts(), []);
  const { state, rank, submitsAt } = await group.lifeAt(1, eventId);
  assert.deepEqual([state, rank, submitsAt], ['submitting', null, null]);
});

test('a rank that waits shows its place and when it will post, and logs it once', async (t) => {
  const group = groupOf(t);
  await group.start(2);
  const eventId = group.schedule();
  const turnMs = group.time.wallMs() + 21_000;
  await group.advance(5);
  const { state, rank, submitsAt } = await group.lifeAt(2, eventId);
  assert.deepEqual([state, rank, submitsAt], ['submitting', 2, new Date(turnMs).toISOString()]);
  assert.deepEqual(
    group
      .machine(2)
      .bridge.logged('other machines of the group post first')
      .map((line) => [line['eventId'], line['turnInSeconds']]),
    [[eventId, 20]],
  );
});

test('a machine that an event comes to name gets its turn', async (t) => {
  const group = groupOf(t);
  await group.start(3);
  const eventId = group.schedule({ Resources: ['sim_0'] });
  await group.advance(30);
  group.change(eventId, { Resources: ['sim_0', 'sim_3'] });
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_3', 31, 200]]);
});

for (const { title, downForSeconds, skewMs, postedAt } of [
  {
    title: 'a rank that is restarted while it waits posts at the time that it had before',
    downForSeconds: 3,
    skewMs: 0,
    postedAt: 11,
  },
  {
    title: 'the clock of a rank is set back while it is down: it waits no longer than from its start',
    ...{ downForSeconds: 3, skewMs: -600_000, postedAt: 17 },
  },
  {
    title: 'a rank that was down in its turn posts as soon as it reads that the event is still Scheduled',
    ...{ downForSeconds: 30, skewMs: 0, postedAt: 34 },
  },
]) {
  test(title, async (t) => {
    const group = groupOf(t);
    await group.start(1);
    group.schedule();
    await group.advance(4);
    await group.machine(1).bridge.kill();
    group.machine(1).clock.skewMs = skewMs;
    await group.advance(downForSeconds);
    await group.machine(1).bridge.start();
    await group.advance(60);
    assert.deepEqual(group.posts(), [['sim_1', postedAt, 200]]);
  });
}

test('Resources change and the ranks move: the time that has passed counts for the new place', async (t) => {
  const group = groupOf(t, { members: ['sim_2'] });
  await group.start(2, 3);
  const eventId = group.schedule();
  await group.advance(14);
  group.change(eventId, { Resources: ['sim_0', 'sim_3'] });
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_3', 15, 200]]);
});

test('Resources change and a machine loses its rank: it no longer posts', async (t) => {
  const group = groupOf(t);
  await group.start(1, 2);
  const eventId = group.schedule();
  await group.advance(8);
  group.change(eventId, { Resources: ['sim_2'] });
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_2', 9, 200]]);
});

test('clocks that are minutes apart change nothing: the leader posts, or the next rank failoverAfter later, restarted or not', async (t) => {
  const group = groupOf(t);
  const minutes = [-7, 5, 12, -3, 0];
  for (const [index, skew] of minutes.entries()) group.machine(index).clock.skewMs = skew * 60_000;
  await group.start();
  group.schedule();
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_0', 1, 200]]);

  await group.machine(0).bridge.kill();
  group.schedule();
  await group.advance(5);
  await group.machine(1).bridge.kill();
  await group.machine(1).bridge.start();
  await group.advance(60);
  assert.deepEqual(group.posts().slice(1), [['sim_1', 11, 200]]);
});

test('while the name of its machine is unknown, a bridge posts nothing for the group, and logs that at its start', async (t) => {
  const bridge = new VirtualBridge(t, settings({ members: ['sim_0'] }, { cloudevents: { source: '/my/group' } }));
  const usual = bridge.service;
  bridge.service = async (request, signal) =>
    request.url.includes('/metadata/instance')
      ? { status: 404, headers: {}, body: new Uint8Array() }
      : usual(request, signal);
  await bridge.startFor(2000);
  const { EventId } = bridge.simulation.schedule();
  await bridge.advance(60_000);
  assert.deepEqual(bridge.simulation.statuses(), [[EventId, 'Scheduled']]);
  assert.equal(bridge.logged("approvals.group.submit is leader, but the VM's own name is unknown").length, 1);
});
