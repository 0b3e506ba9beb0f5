// publish.resources, filters, and sinks that come and go → who gets which changes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const MEMORY = { type: 'memory' };

test('publish.resources own: events that name this VM, or named it earlier in this occurrence, also after a restart', async (t) => {
  const bridge = new VirtualBridge(t, { publish: { resources: 'own' } });
  const { simulation } = bridge;
  const ours = simulation.schedule({ Resources: ['SIM_0', 'sim_1'] });
  const others = simulation.schedule({ Resources: ['sim_1'] });
  await bridge.startFor(2 * SECOND);
  const patch = (eventId: string, Resources: string[]) =>
    simulation.send('PATCH', `/simulator/events/${eventId}`, { body: { Resources } });
  patch(ours.EventId, ['sim_1']);
  patch(others.EventId, ['sim_2']);
  await bridge.advance(2 * SECOND);
  await bridge.kill();
  await bridge.startFor(2 * SECOND);
  for (const { EventId } of [ours, others]) simulation.send('POST', `/simulator/events/${EventId}/cancel`);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(
    bridge.sink('audit').events.map(({ type, data }) => [type.split('.').at(-2), data.eventId]),
    ['scheduled', 'updated', 'ended'].map((change) => [change, ours.EventId]),
  );
});

test('each sink gets what its filter selects, and the later changes of an event that it received', async (t) => {
  const bridge = new VirtualBridge(t, {
    sinks: {
      reboots: { ...MEMORY, filter: { impacts: ['Reboot'] } },
      ends: { ...MEMORY, filter: { changes: ['ended'] } },
      urgent: { ...MEMORY, filter: { notice: { below: '5m' } } },
    },
  });
  const { simulation } = bridge;
  const { EventId } = simulation.schedule({ EventType: 'Reboot' });
  simulation.schedule({ EventType: 'Freeze' });
  await bridge.startFor(2 * SECOND);
  const inFourMinutes = new Date(bridge.time.wallMs() + 4 * MINUTE).toUTCString();
  simulation.send('PATCH', `/simulator/events/${EventId}`, {
    body: { EventType: 'Redeploy', NotBefore: inFourMinutes },
  });
  await bridge.advance(2 * SECOND);
  simulation.send('POST', `/simulator/events/${EventId}/cancel`);
  await bridge.advance(2 * SECOND);
  simulation.schedule({ EventType: 'Preempt' });
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('reboots').changes, ['scheduled', 'updated', 'ended']);
  assert.deepEqual(bridge.sink('ends').changes, ['ended']);
  assert.deepEqual(
    bridge.sink('urgent').events.map(({ data }) => data['eventType']),
    ['Redeploy', 'Redeploy', 'Preempt'],
  );
});

test('a new sink gets what happens from then on', async (t) => {
  const bridge = new VirtualBridge(t);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  await bridge.stop();
  await bridge.startFor(2 * SECOND, { sinks: { audit: MEMORY, late: MEMORY } });
  assert.deepEqual(bridge.sink('late').changes, []);
  bridge.simulation.send('POST', `/simulator/events/${EventId}/start`);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('late').changes, ['started']);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'started']);
});

test('deliveries of a sink that is no longer configured become dead letters, which the log counts', async (t) => {
  const bridge = new VirtualBridge(t, { sinks: { audit: MEMORY, gone: MEMORY } });
  bridge.sink('gone').answer = () => new Promise(() => {});
  bridge.simulation.schedule();
  bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  await bridge.stop();
  await bridge.startFor(2 * SECOND, { sinks: { audit: MEMORY } });
  const [line] = bridge.logged('no longer configured');
  assert.deepEqual([line?.['sink'], line?.['deadLettered']], ['gone', 2]);
  using outbox = openOutbox(bridge.folder, { deps: bridge.time, lock: false });
  assert.deepEqual(
    [...outbox.deadLetters.list()].map(({ sink, reason }) => [sink, reason]),
    [
      ['gone', 'sink removed'],
      ['gone', 'sink removed'],
    ],
  );
});
