// Many approvals at 5 requests a second → no 429, polls keep their rhythm, the urgent go first.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { TransportRequest } from '../../../src/metadata/transport.ts';
import { RateLimit } from '../../../src/simulator/simulator.ts';
import { sleep } from '../../../src/time/clock.ts';
import { ANY, approve, heard } from '../../virtual/posting-fixture.ts';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const APPROVE = { policy: [{ when: {}, then: 'approve' }] };

interface Sent {
  readonly method: string;
  readonly atMs: number;
  readonly eventIds: readonly string[];
}

/**
 * Requests take up to 30 ms to arrive; the sixth in a second is answered 429. `left` has the EventIds in the order in
 * which the bridge posted them.
 */
function limited(t: TestContext, approvals: object, metadata: object = {}) {
  const bridge = new VirtualBridge(t, { approvals, metadata });
  const { service } = bridge;
  const limit = new RateLimit();
  const left: string[] = [];
  const sent: Sent[] = [];
  const refused: number[] = [];
  bridge.service = async (request, signal) => {
    left.push(...namedIn(request));
    await sleep(bridge.time, Math.floor(bridge.time.random() * 30), signal);
    const atMs = bridge.time.elapsedMs();
    sent.push({ method: request.method, atMs, eventIds: namedIn(request) });
    if (limit.take(atMs)) return await service(request, signal);
    refused.push(atMs);
    return { status: 429, headers: {}, body: new Uint8Array() };
  };
  return { bridge, left, sent, refused };
}

function namedIn({ body }: TransportRequest): readonly string[] {
  if (body === undefined) return [];
  return (JSON.parse(body) as { StartRequests: { EventId: string }[] }).StartRequests.map(({ EventId }) => EventId);
}

function submitted(bridge: VirtualBridge): number {
  return bridge.sink('audit').changes.filter((change) => change === 'approval.submitted').length;
}

test('sixty events that a rule approves at once: no 429, a poll a second, the urgent first, and all are submitted', async (t) => {
  const { bridge, left, sent, refused } = limited(t, APPROVE);
  await bridge.startFor(5 * SECOND);
  for (let event = 0; event < 60; event++) bridge.simulation.schedule();
  const urgent = bridge.simulation.schedule({ EventType: 'Preempt', notice: '30s' }).EventId;
  await bridge.advance(5 * SECOND);
  for (let event = 0; event < 7; event++) {
    bridge.simulation.schedule();
    await bridge.advance(0.3 * SECOND);
  }
  await bridge.advance(10 * SECOND);
  assert.deepEqual(refused, []);
  assert.equal(submitted(bridge), 68);
  const named = sent.flatMap(({ eventIds }) => eventIds);
  assert.equal(left[0], urgent);
  assert.equal(new Set(named).size, named.length, 'each once');
  const polls = sent.filter(({ method }) => method === 'GET').map(({ atMs }) => atMs);
  const gaps = polls.slice(1).map((atMs, index) => atMs - (polls[index] ?? 0));
  assert.ok(Math.max(...gaps) < 1.1 * SECOND, `polls were ${Math.max(...gaps)} ms apart`);
});

test('the same if an approver with a scope approves them one by one: the reads before each count, too', async (t) => {
  const scoped = {
    ...ANY,
    approvers: { ...ANY.approvers, orders: { token: { env: 'ORDERS_TOKEN' }, scope: { impacts: ['Reboot'] } } },
  };
  const { bridge, sent, refused } = limited(t, scoped);
  const ids = Array.from({ length: 12 }, () => bridge.simulation.schedule({ EventType: 'Reboot' }).EventId);
  await bridge.startFor(5 * SECOND);
  await Promise.all(ids.map((id) => approve(bridge, 'orders', id)));
  await bridge.advance(10 * SECOND);
  assert.deepEqual(refused, []);
  assert.equal(submitted(bridge), 12);
  for (const [index, { method, atMs }] of sent.entries()) {
    const before = sent.slice(0, index).findLast((each) => each.method === 'GET');
    if (method === 'POST') assert.ok(before && atMs - before.atMs < 100, 'the document was read right before');
  }
});

test('even if fast polls use the whole rate, approvals are posted at once', async (t) => {
  const bridge = new VirtualBridge(t, { approvals: ANY, metadata: { pollInterval: '50ms' } });
  const ids = Array.from({ length: 5 }, () => bridge.simulation.schedule().EventId);
  await bridge.startFor(2 * SECOND);
  for (const id of ids) assert.deepEqual(heard(await approve(bridge, 'orders', id)), [200, 'submitted']);
});

test('after a 429 the others wait as long as it asks, too', async (t) => {
  const bridge = new VirtualBridge(t, { approvals: ANY });
  const ids = [0, 1].map(() => bridge.simulation.schedule().EventId);
  await bridge.startFor(2 * SECOND);
  bridge.simulation.order(
    'PUT',
    '/faults',
    { method: 'POST', status: 429, headers: { 'Retry-After': '5' }, times: 1 },
    204,
  );
  const fromMs = bridge.time.elapsedMs();
  for (const id of ids) await approve(bridge, 'orders', id);
  await bridge.advance(10 * SECOND);
  const requests = bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST');
  const atMs = requests.map(({ at }) => Date.parse(at));
  assert.equal(submitted(bridge), 2);
  assert.ok(
    atMs.slice(1).every((ms) => ms - (atMs[0] ?? 0) >= 5 * SECOND),
    `${atMs} after ${fromMs}`,
  );
});
