// Events of this VM and of its siblings, and drills → which of them a sink holds (behaviour 10.30).
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const APPROVERS = { node: {}, orders: { token: { env: 'ORDERS_TOKEN' }, admin: true } };
const NODE = { type: 'memory', approve: 'node', hold: true };

/** A sink that never says yes, so that what it holds stays held. */
function startBridge(t: TestContext, sink: object = { ownOnly: true }): VirtualBridge {
  return new VirtualBridge(t, {
    approvals: { approvers: APPROVERS },
    sinks: { audit: { type: 'memory' }, node: { ...NODE, ...sink } },
  });
}

async function heldBy(bridge: VirtualBridge, EventId: string): Promise<readonly string[]> {
  const { body } = await bridge.request('POST', '/v1/approvals', {
    as: 'orders',
    body: { StartRequests: [{ EventId }] },
  });
  return (body as { results: readonly { heldBy?: readonly string[] }[] }).results[0]?.heldBy ?? [];
}

test('a sink that acts on events of this VM holds them, and none of a sibling, which it would hold for ever', async (t) => {
  const bridge = startBridge(t);
  const sibling = bridge.simulation.schedule({ Resources: ['other_1'] });
  const own = bridge.simulation.schedule({ Resources: ['SIM_0', 'other_1'] });
  await bridge.startFor(2 * SECOND);
  assert.deepEqual([await heldBy(bridge, sibling.EventId), await heldBy(bridge, own.EventId)], [[], ['node']]);
  assert.deepEqual(bridge.sink('node').changes.slice(0, 2), ['scheduled', 'scheduled'], 'it is sent both');
});

test('an event is held from the change on that makes it name this VM, and no longer once it does not', async (t) => {
  const bridge = startBridge(t);
  const { EventId } = bridge.simulation.schedule({ Resources: ['other_1'] });
  await bridge.startFor(2 * SECOND);
  const steps: (readonly string[])[] = [];
  for (const Resources of [['sim_0', 'other_1'], ['other_1']]) {
    bridge.simulation.order('PATCH', `/events/${EventId}`, { Resources });
    await bridge.advance(3 * SECOND);
    const { body } = await bridge.request('GET', `/v1/approvals/${EventId}`, { as: 'orders' });
    steps.push(
      (body as { steps: readonly { step: string; via: string | null }[] }).steps.map(
        ({ step, via }) => `${step} ${via}`,
      ),
    );
  }
  assert.deepEqual(steps, [['held sink:node'], ['held sink:node', 'released null']]);
  assert.deepEqual(await heldBy(bridge, EventId), []);
});

test('another change of an event that it holds sets no hold again that an admin released', async (t) => {
  const bridge = startBridge(t);
  const { EventId, NotBefore } = bridge.simulation.schedule({ notice: '30m' });
  await bridge.startFor(2 * SECOND);
  // 204 has no body to be read.
  await bridge.request('DELETE', `/v1/holds/${EventId}?approver=node`, { as: 'orders' }).catch(() => null);
  bridge.simulation.order('PATCH', `/events/${EventId}`, {
    NotBefore: new Date(Date.parse(NotBefore) + 600_000).toUTCString(),
  });
  await bridge.advance(3 * SECOND);
  assert.deepEqual(bridge.sink('node').changes.filter((change) => change === 'updated').length, 1);
  assert.deepEqual(await heldBy(bridge, EventId), []);
});

test('a drill is held as a real event is', async (t) => {
  const bridge = startBridge(t, {});
  await bridge.startFor(2 * SECOND);
  const { body } = await bridge.request('POST', '/v1/drills', { as: 'orders', body: { notice: '10m' } });
  assert.deepEqual(await heldBy(bridge, (body as { eventId: string }).eventId), ['node']);
});
