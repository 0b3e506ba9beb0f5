// What the instance route says → when the bridge begins to handle documents, under which source.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { MetadataTransport } from '../../../src/metadata/transport.ts';
import { simulatorAlone } from '../../virtual/simulator-alone.ts';
import { simulatorTransport } from '../../virtual/simulator-transport.ts';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const SCOPE =
  /^\/subscriptions\/[0-9a-f-]{36}\/resourcegroups\/simulated\/providers\/microsoft\.compute\/virtualmachinescalesets\/sim$/;

/** The simulator, but for what its instance route answers. */
function withInstance(bridge: VirtualBridge, instance: MetadataTransport): MetadataTransport {
  const usual = bridge.service;
  return (request, signal) =>
    request.url.includes('/metadata/instance') ? instance(request, signal) : usual(request, signal);
}

const answering =
  (status: number): MetadataTransport =>
  async () => ({ status, headers: {}, body: new Uint8Array() });

test('documents wait while the source is unknown, and the last one is handled afterwards', async (t) => {
  const bridge = new VirtualBridge(t);
  const usual = bridge.service;
  bridge.service = withInstance(bridge, answering(503));
  bridge.simulation.schedule();
  await bridge.startFor(30 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, []);
  assert.deepEqual((await bridge.request('GET', '/readyz')).status, 503);

  bridge.service = usual;
  await bridge.advance(11 * SECOND);
  const [event] = bridge.sink('audit').events;
  assert.match(event?.source ?? '', SCOPE);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
  assert.deepEqual((await bridge.request('GET', '/readyz')).status, 200);
});

for (const status of [404, 405]) {
  test(`if the instance route answers ${status}, the log says to set cloudevents.source, and nothing is sent without it`, async (t) => {
    const bridge = new VirtualBridge(t);
    bridge.service = withInstance(bridge, answering(status));
    bridge.simulation.schedule();
    await bridge.startFor(120 * SECOND);
    assert.equal(bridge.logged('set cloudevents.source').length, 1);
    assert.deepEqual(bridge.sink('audit').changes, []);

    await bridge.stop();
    await bridge.startFor(5 * SECOND, { cloudevents: { source: '/my/group' } });
    assert.deepEqual(
      bridge.sink('audit').events.map(({ source, data }) => [source, data.observer.name]),
      [['/my/group', null]],
    );
  });
}

test('a stored state is compared once the instance route has been silent for 60 s, not before', async (t) => {
  const bridge = new VirtualBridge(t);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  await bridge.stop();
  bridge.simulation.send('POST', `/simulator/events/${EventId}/cancel`);
  bridge.service = withInstance(bridge, answering(503));
  await bridge.startFor(59 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'ended']);
  assert.equal(bridge.logged("taken for this VM's own").length, 1);
});

test('the store of another VM is set aside, and nothing of it is compared or delivered', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.simulation.schedule();
  bridge.sink('audit').answer = () => new Promise(() => {});
  await bridge.startFor(5 * SECOND);
  await bridge.kill();

  const other = simulatorAlone({ deps: bridge.time, vmName: 'copy_0' });
  bridge.service = simulatorTransport(other, bridge.time);
  bridge.sink('audit').answer = (batch) => batch.map(() => 'accepted');
  await bridge.startFor(120 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, []);
  const aside = readdirSync(bridge.folder).find((name) => name.startsWith('set-aside-'));
  assert.ok(aside !== undefined && existsSync(join(bridge.folder, aside, 'outbox.db')));
  assert.equal(bridge.logged('has moved it to this folder').length, 1);

  other.handle({ method: 'POST', url: '/simulator/events', headers: {}, body: new Uint8Array() });
  await bridge.advance(2 * SECOND);
  assert.deepEqual(
    bridge.sink('audit').events.map(({ data }) => data.observer.name),
    ['copy_0'],
  );
});

test('the store of another VM is set aside, even if its lanes were opened before the VM was identified', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  await bridge.stop();
  const other = simulatorAlone({ deps: bridge.time, vmName: 'copy_0' });
  bridge.service = simulatorTransport(other, bridge.time);
  const usual = bridge.service;
  bridge.service = withInstance(bridge, answering(503));
  await bridge.startFor(20 * SECOND);
  bridge.service = usual;
  await bridge.advance(20 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
  other.handle({ method: 'POST', url: '/simulator/events', headers: {}, body: new Uint8Array() });
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'scheduled']);
});

test('the source "vm" appends the VM to the scope', async (t) => {
  const bridge = new VirtualBridge(t, { cloudevents: { source: 'vm' } });
  bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  assert.match(bridge.sink('audit').events[0]?.source ?? '', /\/virtualmachinescalesets\/sim\/virtualmachines\/sim_0$/);
});

test('a source that is written out is taken as it is, and needs no instance route', async (t) => {
  const bridge = new VirtualBridge(t, { cloudevents: { source: 'urn:Our:Machines' } });
  bridge.service = withInstance(bridge, answering(500));
  bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(
    bridge.sink('audit').events.map(({ source }) => source),
    ['urn:Our:Machines'],
  );
});

test('what cloudevents.observer asks for stands in every CloudEvent, also after a restart without instance metadata', async (t) => {
  const bridge = new VirtualBridge(t);
  const cloudevents = { observer: ['location', 'zone', 'vmSize', 'tags.team', 'tags.none'] };
  const vm = { location: 'westeurope', vmSize: 'Standard_D2s_v5', tags: { team: 'maintenance' } };
  bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND, { cloudevents });
  await bridge.stop();
  bridge.service = withInstance(bridge, answering(404));
  bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND, { cloudevents });
  const { events } = bridge.sink('audit');
  assert.deepEqual(
    events.map(({ data }) => data.observer.vm),
    [vm, vm],
  );
});
