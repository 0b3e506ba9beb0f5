// A bridge with much to deliver, and a Preempt → it is told at once, whatever keeps the sink busy.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FarSide } from '../../virtual/memory-sinks.ts';
import { type Answer, accept, hang } from '../../virtual/scripted-adapter.ts';
import { HOUR, MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const PREEMPT = { EventType: 'Preempt' };

/** A minute of virtual time for each call. */
function slow(bridge: VirtualBridge, ms: number): Answer {
  return (batch, signal) => new Promise((resolve) => bridge.time.after(ms, () => resolve(accept(batch, signal) as [])));
}

function arrivalOf(side: FarSide, eventId: string): number {
  return (
    side.arrivals.find(({ partitionKey }) => partitionKey === eventId.toLowerCase())?.atMs ?? Number.POSITIVE_INFINITY
  );
}

test('a Preempt is sent at once although preparations of 50 s take every place of the sink', async (t) => {
  const bridge = new VirtualBridge(t, { sinks: { drain: { type: 'memory', inFlight: 4, urgentInFlight: 4 } } });
  await bridge.startFor(2 * SECOND);
  const drain = bridge.sink('drain');
  drain.answer = slow(bridge, 50 * SECOND);
  for (let event = 0; event < 6; event++) bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.advance(3 * SECOND);
  assert.equal(drain.calls, 4);
  drain.answer = accept;
  const { EventId } = bridge.simulation.schedule(PREEMPT);
  const announcedMs = bridge.time.wallMs();
  await bridge.advance(2 * SECOND);
  assert.ok(arrivalOf(drain, EventId) - announcedMs <= 1_000, 'with the poll that finds it');
  assert.equal(drain.calls, 5, 'the others wait for a place');
  await bridge.advance(5 * MINUTE);
  assert.equal(drain.arrivals.filter(({ change }) => change === 'scheduled').length, 7);
});

test('a Preempt is sent at once although thousands of deliveries wait', async (t) => {
  const bridge = new VirtualBridge(t, { sinks: { hooks: { type: 'memory', inFlight: 16 } } });
  await bridge.startFor(2 * SECOND);
  const hooks = bridge.sink('hooks');
  hooks.answer = hang;
  const events = Array.from({ length: 1_000 }, () => bridge.simulation.schedule({ EventType: 'Reboot' }));
  await bridge.advance(2 * SECOND);
  for (const { EventId } of events) bridge.simulation.order('POST', `/events/${EventId}/cancel`);
  await bridge.advance(2 * SECOND);
  assert.ok(bridge.beside(`SELECT 1 FROM deliveries WHERE state = 'queued'`).length >= 2_000);
  await bridge.kill();
  hooks.answer = slow(bridge, 500);
  await bridge.startFor(2 * SECOND);
  const { EventId } = bridge.simulation.schedule(PREEMPT);
  const announcedMs = bridge.time.wallMs();
  await bridge.advance(3 * SECOND);
  assert.ok(arrivalOf(hooks, EventId) - announcedMs <= 2_000, `after ${arrivalOf(hooks, EventId) - announcedMs} ms`);
  await bridge.advance(HOUR);
  const keys = Map.groupBy(hooks.arrivals, ({ partitionKey }) => partitionKey);
  assert.equal(keys.size, 1_001);
  for (const { EventId } of events) {
    const changes = keys.get(EventId.toLowerCase())?.map(({ change }) => change);
    assert.deepEqual(changes, ['scheduled', 'ended'], 'each event in its order');
  }
});

test('what its approvers say of an event with little notice is as urgent as the event', async (t) => {
  const approvals = { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } };
  const bridge = new VirtualBridge(t, { approvals, sinks: { hooks: { type: 'memory', inFlight: 1 } } });
  await bridge.startFor(2 * SECOND);
  const hooks = bridge.sink('hooks');
  hooks.answer = slow(bridge, SECOND);
  for (let event = 0; event < 200; event++) bridge.simulation.schedule({ EventType: 'Reboot' });
  const { EventId } = bridge.simulation.schedule(PREEMPT);
  await bridge.advance(3 * SECOND);
  const body = { EventId, reason: 'a backup runs' };
  assert.equal((await bridge.request('POST', '/v1/holds', { as: 'orders', body })).status, 201);
  const approval = { StartRequests: [{ EventId }] };
  assert.equal((await bridge.request('POST', '/v1/approvals', { as: 'orders', body: approval })).status, 202);
  const sinceMs = bridge.time.wallMs();
  await bridge.advance(5 * SECOND);
  const recorded = hooks.arrivals.find(({ change }) => change === 'approval.recorded');
  assert.ok(recorded && recorded.atMs - sinceMs <= 3_000, 'before the 190 that were queued earlier');
});
