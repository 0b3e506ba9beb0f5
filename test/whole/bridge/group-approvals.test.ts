// Approvals, holds, deadlines under `submit: leader` → which of five bridges posts, and when.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { VirtualGroup } from '../../virtual/virtual-group.ts';

const APPROVE = [{ when: {}, then: 'approve' }];

function groupOf(t: TestContext, approvals: object = {}): VirtualGroup {
  const usual = {
    approvers: { ops: { admin: true }, orders: { token: { env: 'ORDERS_TOKEN' } } },
    group: { submit: 'leader', failoverAfter: '10s' },
    sources: { topic: { type: 'memory', approver: 'ops' } },
  };
  return new VirtualGroup(t, { approvals: { ...usual, ...approvals } });
}

function yes(eventId: string): object {
  return { StartRequests: [{ EventId: eventId }] };
}

function hold(eventId: string): object {
  return { Holds: [{ EventId: eventId, reason: 'the backup runs' }] };
}

function release(eventId: string): object {
  return { Releases: [{ EventId: eventId }] };
}

test('an approval that every bridge reads: the leader posts, or the next rank failoverAfter later', async (t) => {
  const group = groupOf(t);
  await group.start();
  const first = group.schedule();
  await group.advance(3);
  group.tell(yes(first));
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_0', 3, 200]]);

  await group.machine(0).bridge.kill();
  const second = group.schedule();
  await group.advance(3);
  group.tell(yes(second));
  await group.advance(60);
  assert.deepEqual(group.posts().slice(1), [['sim_1', 13, 200]]);
});

test("an approval through a bridge's own endpoint is posted by that bridge at once, named or not", async (t) => {
  const group = groupOf(t);
  await group.start();
  const eventId = group.schedule({ Resources: ['sim_0', 'sim_1'] });
  await group.advance(3);
  const reply = await group.machine(4).bridge.request('POST', '/v1/approvals', { as: 'orders', body: yes(eventId) });
  assert.deepEqual(reply.body, { results: [{ eventId, state: 'submitted', approvedBy: ['orders'] }] });
  await group.advance(60);
  assert.deepEqual(
    group.posts().map(([vm]) => vm),
    ['sim_4'],
  );
});

test('an approval through an endpoint while ranks wait for their turn is posted at once, and they have nothing to do', async (t) => {
  const group = groupOf(t);
  await group.start(2, 3);
  const eventId = group.schedule();
  await group.advance(3);
  group.tell(yes(eventId));
  await group.advance(3);
  await group.machine(3).bridge.request('POST', '/v1/approvals', { as: 'orders', body: yes(eventId) });
  await group.advance(60);
  assert.deepEqual(
    group.posts().map(([vm, after]) => [vm, Math.floor(after)]),
    [['sim_3', 6]],
  );
});

test('what one reader of a queue receives, it posts at once, leader or not', async (t) => {
  const group = groupOf(t, { sources: { topic: { type: 'memory', approver: 'ops', readers: 'one' } } });
  await group.start();
  const eventId = group.schedule({ Resources: ['sim_0', 'sim_1'] });
  await group.advance(3);
  group.machine(3).hears(yes(eventId));
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_3', 3, 200]]);
});

test('two approvers through a source that every bridge reads: each counts to two, and the leader posts', async (t) => {
  const sources = { topic: { type: 'memory', approver: 'ops' }, other: { type: 'memory', approver: 'orders' } };
  const group = groupOf(t, { sources, required: 'all' });
  await group.start();
  const eventId = group.schedule();
  await group.advance(3);
  group.tell(yes(eventId));
  await group.advance(30);
  assert.deepEqual(group.posts(), []);
  for (const { bridge } of group.machines) bridge.source('other').send(yes(eventId));
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_0', 33, 200]]);
});

test('a hold that every bridge reads stops them all, and its release lets the leader post, alone', async (t) => {
  const group = groupOf(t);
  await group.start();
  const eventId = group.schedule();
  await group.advance(2);
  group.tell(hold(eventId));
  group.tell(yes(eventId));
  await group.advance(120);
  assert.deepEqual(group.posts(), []);
  group.tell(release(eventId));
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_0', 122, 200]]);
});

test('a hold while ranks wait for their turn: they start to wait again at its release', async (t) => {
  const group = groupOf(t, { policy: APPROVE });
  await group.start(1, 2, 3);
  const eventId = group.schedule();
  await group.advance(5);
  group.tell(hold(eventId));
  await group.advance(55);
  group.tell(release(eventId));
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_1', 70, 200]]);
});

test('a hold at one bridge alone stops that bridge alone', async (t) => {
  const group = groupOf(t, { policy: APPROVE });
  await group.start();
  group.machine(0).cutOff = 'POST';
  const eventId = group.schedule();
  await group.advance(3);
  await group
    .machine(0)
    .bridge.request('POST', '/v1/holds', { as: 'orders', body: { EventId: eventId, reason: 'here only' } });
  group.machine(0).cutOff = 'none';
  await group.advance(60);
  assert.deepEqual(group.posts(), [['sim_1', 11, 200]]);
});

test('a deadline that approves: the leader posts at the deadline, or the next rank failoverAfter later', async (t) => {
  const deadline = { before: '2m', then: 'approve' };
  const group = groupOf(t, { policy: [{ when: {}, then: 'wait', deadline }] });
  await group.start();
  group.schedule({ notice: '15m' });
  await group.advance(16 * 60);
  assert.deepEqual(group.posts(), [['sim_0', 13 * 60, 200]]);

  await group.machine(0).bridge.kill();
  group.schedule({ notice: '15m' });
  await group.advance(16 * 60);
  assert.deepEqual(group.posts().slice(1), [['sim_1', 13 * 60 + 10, 200]]);
});

test('the metadata service refuses a StartRequest: a rule decides again at the next change, and ranks count from then', async (t) => {
  const group = groupOf(t, { policy: APPROVE });
  await group.start();
  group.machine(0).bridge.simulation.order('PUT', '/faults', { status: 403, method: 'POST', times: 5 }, 204);
  const eventId = group.schedule({ otherTenants: '10m' });
  await group.advance(50);
  assert.deepEqual(
    group.posts().map(([vm, after, status]) => [vm, after, status]),
    [0, 1, 2, 3, 4].map((rank) => [`sim_${rank}`, 1 + 10 * rank, 403]),
  );
  group.change(eventId, { Description: 'The same, in other words.', otherTenants: '0s' });
  await group.advance(60);
  assert.deepEqual(group.posts().slice(5), [['sim_0', 51, 200]]);
});
