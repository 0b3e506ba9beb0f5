// Approvers' requests to a whole bridge → StartRequests and CloudEvents, none twice or too late.
import assert from 'node:assert/strict';
import test from 'node:test';
import { MINUTE, type Reply, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const APPROVALS = {
  required: 'all',
  approvers: { orders: { token: { env: 'ORDERS_TOKEN' } }, billing: { token: { env: 'BILLING_TOKEN' } } },
};
const ANY = { approvals: { ...APPROVALS, required: 'any' } };

function resultOf({ body }: Reply): {
  readonly state: string;
  readonly approvedBy: string[];
  readonly waitingFor?: string[];
} {
  return (body as { results: never[] }).results[0] as never;
}

function approve(bridge: VirtualBridge, as: 'orders' | 'billing', EventId: string, more: object = {}): Promise<Reply> {
  return bridge.request('POST', '/v1/approvals', { as, body: { StartRequests: [{ EventId, ...more }] } });
}

/** What was posted to the metadata service, and what it said. */
function posts(bridge: VirtualBridge): (number | null)[] {
  return bridge.simulation.simulator.group.journal
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ status }) => status);
}

test('two approvers: the first one waits, the second one starts the event, and its CloudEvent names both', async (t) => {
  const bridge = new VirtualBridge(t, { approvals: APPROVALS });
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const first = await approve(bridge, 'orders', EventId.toLowerCase());
  assert.equal(first.status, 202);
  assert.deepEqual(resultOf(first), {
    eventId: EventId,
    state: 'waiting',
    approvedBy: ['orders'],
    waitingFor: ['billing'],
  });
  assert.deepEqual(posts(bridge), []);

  const [scheduled] = bridge.sink('audit').events;
  const second = await approve(bridge, 'billing', EventId, { Seen: scheduled?.id });
  assert.equal(second.status, 200);
  assert.deepEqual(resultOf(second), { eventId: EventId, state: 'submitted', approvedBy: ['orders', 'billing'] });
  await bridge.advance(12 * MINUTE);
  assert.deepEqual(posts(bridge), [200]);
  const { events, changes } = bridge.sink('audit');
  assert.deepEqual(changes, [
    'scheduled',
    'approval.recorded',
    'approval.recorded',
    'approval.submitted',
    'started',
    'ended',
  ]);
  assert.deepEqual(events[4]?.data.observer.approval?.approvedBy, ['orders', 'billing']);
  assert.equal(events[5]?.outcome, 'completed');
});

test('/metrics has the earliest NotBefore that waits for an approver, and that of held events, until they are decided', async (t) => {
  const policy = [{ when: { impacts: ['Redeploy'] }, then: 'wait', required: 'all' }];
  const bridge = new VirtualBridge(t, { approvals: { ...APPROVALS, policy } });
  bridge.simulation.schedule({ EventType: 'Reboot', notice: '5m' });
  const { EventId, NotBefore } = bridge.simulation.schedule({ EventType: 'Redeploy', notice: '10m' });
  await bridge.startFor(2 * SECOND);
  const shown = () => bridge.metrics(/^approval_earliest/);
  const line = (state: string) =>
    `approval_earliest_not_before_timestamp_seconds{state="${state}"} ${Date.parse(NotBefore) / 1000}`;
  assert.deepEqual(await shown(), [line('waiting')]);
  const held = await bridge.request('POST', '/v1/holds', { as: 'orders', body: { EventId, reason: 'release day' } });
  assert.equal(held.status, 201);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(await shown(), [line('held')]);
  const release = { method: 'DELETE', headers: { Authorization: 'Bearer token-of-the-orders-service' } };
  assert.equal((await bridge.during(fetch(`${bridge.bridge.url}/v1/holds/${EventId}`, release))).status, 204);
  await approve(bridge, 'orders', EventId);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(await shown(), [line('waiting')]);
  await approve(bridge, 'billing', EventId);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(await shown(), []);
});

test('an approval that is asked for twice is posted once', async (t) => {
  const bridge = new VirtualBridge(t, ANY);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const replies = [await approve(bridge, 'orders', EventId), await approve(bridge, 'orders', EventId)];
  await bridge.advance(2 * SECOND);
  replies.push(await approve(bridge, 'orders', EventId), await approve(bridge, 'billing', EventId));
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 409],
  );
  assert.deepEqual(posts(bridge), [200]);
});

test('an approval that is stored, and not posted when the process dies, is posted after the restart', async (t) => {
  const bridge = new VirtualBridge(t, ANY);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  bridge.simulation.send('PUT', '/simulator/faults', { body: { method: 'POST', status: 503, times: 1000 } });
  const reply = await approve(bridge, 'orders', EventId);
  assert.deepEqual([reply.status, resultOf(reply).state], [202, 'submitting']);
  await bridge.kill();
  bridge.simulation.send('PUT', '/simulator/faults', { body: {} });
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(posts(bridge), [503, 200]);
  assert.deepEqual(bridge.sink('audit').changes.slice(-2), ['approval.submitted', 'started']);
});

for (const [fate, orders] of [
  ['started meanwhile', ['start']],
  ['was cancelled meanwhile', ['cancel']],
] as const) {
  test(`a stored approval is not posted after a restart if the event ${fate}`, async (t) => {
    const bridge = new VirtualBridge(t, ANY);
    const { EventId } = bridge.simulation.schedule();
    await bridge.startFor(2 * SECOND);
    bridge.simulation.send('PUT', '/simulator/faults', { body: { method: 'POST', reset: true, times: 1000 } });
    await approve(bridge, 'orders', EventId);
    await bridge.kill();
    bridge.simulation.send('PUT', '/simulator/faults', { body: {} });
    for (const order of orders) bridge.simulation.send('POST', `/simulator/events/${EventId}/${order}`);
    await bridge.startFor(MINUTE);
    assert.deepEqual(posts(bridge), [null]);
  });
}

test('an approval of an event that got worse before it was posted is void', async (t) => {
  const bridge = new VirtualBridge(t, { approvals: APPROVALS });
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  await approve(bridge, 'orders', EventId);
  bridge.simulation.send('PATCH', `/simulator/events/${EventId}`, { body: { EventType: 'Redeploy' } });
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'approval.recorded', 'updated', 'approval.failed']);
  assert.equal(bridge.sink('audit').events.at(-1)?.data.reason, 'changed');
  const reply = await approve(bridge, 'billing', EventId);
  assert.deepEqual(resultOf(reply).waitingFor, ['orders']);
  assert.deepEqual(posts(bridge), []);
});

test('while the metadata service is away an approval is recorded, and posted once a fresh document lists the event', async (t) => {
  const bridge = new VirtualBridge(t, ANY);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  bridge.simulation.send('PUT', '/simulator/faults', { body: { status: 503, times: 1_000_000 } });
  await bridge.advance(30 * SECOND);
  const reply = await approve(bridge, 'orders', EventId);
  assert.deepEqual([reply.status, resultOf(reply).state], [202, 'submitting']);
  await bridge.advance(30 * SECOND);
  assert.deepEqual(posts(bridge), []);
  bridge.simulation.send('PUT', '/simulator/faults', { body: {} });
  await bridge.advance(3 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
});

test('GET /v1/events shows the event and the state of its approval', async (t) => {
  const bridge = new VirtualBridge(t, { approvals: APPROVALS });
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  await approve(bridge, 'billing', EventId);
  const { body } = await bridge.request('GET', '/v1/events');
  const { state, events } = body as {
    state: string;
    events: { eventId: string; approval: { state: string; waitingFor: string[] } }[];
  };
  assert.equal(state, 'watching');
  assert.deepEqual(
    events.map(({ eventId, approval }) => [eventId, approval.state, approval.waitingFor]),
    [[EventId, 'waiting', ['orders']]],
  );
});

test('on a full disk an approval is answered 503 and nothing is posted; asked again when there is space, it is', async (t) => {
  const bridge = new VirtualBridge(t, ANY);
  bridge.maxPages = 200;
  // Its vote keeps the event's content, which needs pages of its own.
  const { EventId } = bridge.simulation.schedule({ Description: 'x'.repeat(20_000) });
  await bridge.startFor(2 * SECOND);
  bridge.fillDisk();
  const refused = await approve(bridge, 'orders', EventId);
  assert.deepEqual([refused.status, posts(bridge)], [503, []]);
  bridge.freeDisk();
  const accepted = await approve(bridge, 'orders', EventId);
  assert.deepEqual([accepted.status, posts(bridge)], [200, [200]]);
});

test('a start that cannot store what rules decide answers 503, not that the event has begun, until there is space', async (t) => {
  const bridge = new VirtualBridge(t, ANY);
  bridge.maxPages = 400;
  // So many that their approvals need pages of their own.
  const [EventId = ''] = Array.from({ length: 60 }, () => bridge.simulation.schedule().EventId);
  await bridge.startFor(2 * SECOND);
  bridge.fillDisk();
  await bridge.kill();
  await bridge.startFor(2 * SECOND, { approvals: { ...ANY.approvals, policy: [{ when: {}, then: 'approve' }] } });
  const refused = await approve(bridge, 'orders', EventId);
  assert.deepEqual([refused.status, posts(bridge)], [503, []]);
  bridge.freeDisk();
  await bridge.advance(2 * SECOND);
  assert.ok(posts(bridge).every((status) => status === 200));
  assert.equal(bridge.sink('audit').changes.filter((change) => change === 'approval.submitted').length, 60);
});

test('an approval that a document brings about is counted and logged like all others', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND, { approvals: { ...ANY.approvals, policy: [{ when: {}, then: 'approve' }] } });
  const names = [...new Set(bridge.sink('audit').changes)];
  assert.ok(names.length > 1, names.join());
  assert.deepEqual([...new Set(bridge.logged('change stored').map(({ change }) => change))], names);
  const counted = await bridge.metrics(/changes_total\{.*\} [1-9]/);
  assert.equal(counted.length, names.length, counted.join());
});
