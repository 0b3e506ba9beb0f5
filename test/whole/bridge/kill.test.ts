// A process that dies at some moment → the next one on its store sends all, the same bytes again.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Answer } from '../../virtual/scripted-adapter.ts';
import { accept } from '../../virtual/scripted-adapter.ts';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** Runs until `audit` is sent something, which kills the process; then starts the next one. */
async function diesAtDelivery(
  t: TestContext,
  lastDeed: (bridge: VirtualBridge, ...call: Parameters<Answer>) => void,
): Promise<VirtualBridge> {
  const bridge = new VirtualBridge(t);
  let death: Promise<void> | null = null;
  bridge.sink('audit').answer = (batch, signal) => {
    lastDeed(bridge, batch, signal);
    death ??= bridge.kill();
    return new Promise(() => {});
  };
  bridge.simulation.schedule({ NotBefore: '' });
  await bridge.startFor(2 * SECOND);
  assert.ok(death !== null);
  await death;
  bridge.sink('audit').answer = accept;
  await bridge.startFor(2 * SECOND);
  return bridge;
}

test('killed before the commit: the next process publishes it', async (t) => {
  const bridge = new VirtualBridge(t);
  await bridge.startFor(2 * SECOND);
  const usual = bridge.service;
  let death: Promise<void> | null = null;
  bridge.service = async (request, signal) => {
    const answer = await usual(request, signal);
    death ??= bridge.kill();
    return answer;
  };
  bridge.simulation.schedule({ NotBefore: '' });
  await bridge.advance(2 * SECOND);
  assert.ok(death !== null);
  await death;
  assert.deepEqual(bridge.sink('audit').changes, []);
  await bridge.startFor(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
});

test('killed after the commit, during a delivery: the next process delivers it', async (t) => {
  const bridge = await diesAtDelivery(t, () => {});
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
});

test('killed after the far side took it, before that was recorded: the next process repeats the same bytes', async (t) => {
  const bridge = await diesAtDelivery(t, ({ sinks }, batch) => {
    for (const row of batch) sinks.side('audit').take(row);
  });
  const [first, second, ...more] = bridge.sink('audit').arrivals;
  assert.deepEqual([second?.id, second?.text, more], [first?.id, first?.text, []]);
});

test('killed after a StartRequest was accepted, before that was recorded: the next process posts no second one', async (t) => {
  const bridge = new VirtualBridge(t, { approvals: { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } } });
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const usual = bridge.service;
  let death: Promise<void> | null = null;
  bridge.service = async (request, signal) => {
    const answer = await usual(request, signal);
    if (request.method === 'POST') death ??= bridge.kill();
    return answer;
  };
  await bridge
    .request('POST', '/v1/approvals', { as: 'orders', body: { StartRequests: [{ EventId }] } })
    .catch(() => {});
  assert.ok(death !== null);
  await death;
  await bridge.startFor(20 * SECOND);
  const posts = bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST');
  assert.equal(posts.length, 1);
  assert.deepEqual([...new Set(bridge.sink('audit').changes)], ['scheduled', 'approval.recorded', 'started']);
});

test('SIGTERM while deliveries run: they may end, and what did not is delivered by the next process', async (t) => {
  const bridge = new VirtualBridge(t);
  const slow = new Set<() => void>();
  bridge.sink('audit').answer = (batch, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      slow.add(() => resolve(batch.map(() => 'accepted')));
    });
  for (let i = 0; i < 10; i++) bridge.simulation.schedule({ NotBefore: '' });
  await bridge.startFor(2 * SECOND);
  assert.equal(slow.size, 4);
  bridge.time.after(5 * SECOND, () => {
    for (const end of [...slow].slice(0, 2)) end();
  });
  await bridge.stop();
  assert.equal(bridge.sink('audit').arrivals.length, 2);
  bridge.sink('audit').answer = accept;
  await bridge.startFor(2 * SECOND);
  const ids = bridge.sink('audit').arrivals.map(({ id }) => id);
  assert.deepEqual([ids.length, new Set(ids).size], [10, 10]);
});
