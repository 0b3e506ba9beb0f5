// A metadata service that goes backwards → CloudEvents and one warning each (behaviour 4.14).
import assert from 'node:assert/strict';
import test from 'node:test';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** From now on the service answers this document. */
function show(bridge: VirtualBridge, DocumentIncarnation: number, Events: readonly object[]): void {
  const order = { body: { DocumentIncarnation, Events }, path: '/metadata/scheduledevents', times: 1_000_000 };
  bridge.simulation.order('PUT', '/faults', order, 204);
}

const event = (EventStatus: string) => ({
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventType: 'Reboot',
  ResourceType: 'VirtualMachine',
  Resources: ['sim_0'],
  EventStatus,
  NotBefore: '',
});

function warningsOf(bridge: VirtualBridge): (string | undefined)[] {
  return bridge.logs
    .filter(({ level, area }) => level === 40 && area === 'changes')
    .map(({ msg }) => msg.split(',')[0]);
}

test('an event that goes back to Scheduled, and one that comes back after its end, are published and warned of once', async (t) => {
  const bridge = new VirtualBridge(t);
  const documents = [
    [],
    [event('Scheduled')],
    [event('Started')],
    [event('Scheduled')],
    [event('Started')],
    [],
    [event('Scheduled')],
  ];
  show(bridge, 1, []);
  await bridge.start();
  for (const [index, events] of documents.entries()) {
    show(bridge, index + 1, events);
    await bridge.advance(20 * SECOND);
  }
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'started', 'updated', 'started', 'ended', 'scheduled']);
  assert.deepEqual(warningsOf(bridge), [
    'an event went back from Started to Scheduled',
    'an event came back after its end',
  ]);
  const [first] = bridge.logged('an event went back');
  assert.equal(first?.['eventId'], event('').EventId);
});

test('while it cannot be stored, nothing is warned of; once it is, one warning comes', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.maxPages = 200;
  show(bridge, 1, [event('Started')]);
  await bridge.startFor(5 * SECOND);
  bridge.fillDisk();
  // Longer than the room that is left in pages that the store has.
  show(bridge, 2, [{ ...event('Scheduled'), Description: 'x'.repeat(100_000) }]);
  await bridge.advance(20 * SECOND);
  assert.deepEqual([warningsOf(bridge), bridge.sink('audit').changes], [[], ['started']]);
  bridge.freeDisk();
  await bridge.advance(20 * SECOND);
  assert.deepEqual(warningsOf(bridge), ['an event went back from Started to Scheduled']);
});
