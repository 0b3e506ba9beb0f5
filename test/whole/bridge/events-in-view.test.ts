// Documents, silence, restarts, a lost store → what an adapter is told of events (behaviour 10.32).
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { hostsInTurn } from '../../virtual/hosts-in-turn.ts';
import { MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const SETTINGS = { sinks: { node: { type: 'memory' } } };

function startBridge(t: TestContext) {
  const bridge = new VirtualBridge(t, SETTINGS);
  const view = () => bridge.sink('node').view ?? assert.fail('no adapter');
  return { bridge, view };
}

test('what no document lists is over once a new store has read them for as long as an absence takes to prove something', async (t) => {
  const { bridge, view } = startBridge(t);
  await bridge.startFor(4 * MINUTE);
  assert.deepEqual([view().ownName(), view().isInView()], ['sim_0', false]);
  await bridge.advance(90 * SECOND);
  assert.equal(view().isInView(), true);
});

test('after a restart, nothing is in view until the first document', async (t) => {
  const { bridge, view } = startBridge(t);
  await bridge.startFor(6 * MINUTE);
  assert.equal(view().isInView(), true);
  await bridge.kill();
  const { service } = bridge;
  bridge.service = async () => {
    throw new Error('away');
  };
  await bridge.startFor(8 * SECOND);
  assert.equal(view().isInView(), false);
  bridge.service = service;
  await bridge.advance(MINUTE);
  assert.equal(view().isInView(), true);
});

test('if two hosts answer in turn, the events of both are in view after three settle times', async (t) => {
  const { bridge, view } = startBridge(t);
  bridge.service = hostsInTurn(bridge.service);
  await bridge.startFor(14 * MINUTE);
  assert.equal(view().isInView(), false);
  await bridge.advance(90 * SECOND);
  assert.equal(view().isInView(), true);
});

test('while the bridge is blind nothing is in view', async (t) => {
  const { bridge, view } = startBridge(t);
  await bridge.startFor(6 * MINUTE);
  const { service } = bridge;
  bridge.service = async () => {
    throw new Error('away');
  };
  await bridge.advance(10 * MINUTE);
  assert.equal(view().isInView(), false);
  bridge.service = service;
  await bridge.advance(2 * MINUTE);
  assert.equal(view().isInView(), true);
});

test('an event was seen from its first document on, also once it has ended, and others never were', async (t) => {
  const { bridge, view } = startBridge(t);
  const { EventId } = bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.startFor(10 * SECOND);
  assert.deepEqual([view().wasSeen(EventId.toLowerCase()), view().wasSeen('another')], [true, false]);
  bridge.simulation.order('POST', `/events/${EventId}/cancel`);
  await bridge.advance(MINUTE);
  assert.deepEqual([bridge.sink('node').changes.at(-1), view().wasSeen(EventId.toLowerCase())], ['ended', true]);
});
