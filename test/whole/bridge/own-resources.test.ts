// `publish.resources: own` where nobody knows which name is the VM's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

test('publish.resources: own publishes everything while the own name is unknown, and warns of it', async (t) => {
  const bridge = new VirtualBridge(t, { cloudevents: { source: '/fleet' }, publish: { resources: 'own' } });
  const { service } = bridge;
  bridge.service = async (request, signal) => {
    if (!request.url.includes('/metadata/instance')) return service(request, signal);
    return { status: 404, headers: {}, body: new Uint8Array() };
  };
  bridge.simulation.schedule({ Resources: ['other_1'] });
  await bridge.startFor(5 * SECOND);
  assert.equal(bridge.sink('audit').arrivals.length, 1);
  assert.equal(bridge.logged('publish.resources').length, 1);
});

test('/metrics has the earliest NotBefore of the scheduled events of all VMs, published or not, until they start', async (t) => {
  const bridge = new VirtualBridge(t, { publish: { resources: 'own' } });
  const { EventId, NotBefore } = bridge.simulation.schedule({
    EventType: 'Redeploy',
    Resources: ['other_1'],
    notice: '10m',
  });
  await bridge.startFor(5 * SECOND);
  const line = `earliest_not_before_timestamp_seconds{impact="redeploy"} ${Math.floor(Date.parse(NotBefore) / 1000)}`;
  assert.deepEqual(await bridge.metrics(/^earliest/), [line]);
  assert.deepEqual(bridge.sink('audit').arrivals, []);
  bridge.simulation.approve(EventId);
  await bridge.advance(5 * SECOND);
  assert.deepEqual(await bridge.metrics(/^earliest/), []);
});
