// A maintenance, its metadata service away, restarts and reloads → what GET /drainz answers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const DRAIN = { http: { drain: {} } };
const SERVING = { status: 200, body: { state: 'serving' } };

function away(bridge: VirtualBridge): void {
  bridge.simulation.send('PUT', '/simulator/faults', { body: { status: 503, times: 1_000_000 } });
}

test('a machine serves, drains from the announcement of its maintenance on, and serves again when that has ended', async (t) => {
  const bridge = new VirtualBridge(t, DRAIN);
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(await bridge.request('GET', '/drainz'), SERVING);
  const { EventId, NotBefore } = bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.advance(2 * SECOND);
  const notBefore = new Date(NotBefore).toISOString().replace('.000Z', 'Z');
  assert.deepEqual(await bridge.request('GET', '/drainz'), {
    status: 503,
    body: { state: 'draining', eventId: EventId, impact: 'reboot', notBefore },
  });
  bridge.simulation.approve(EventId);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(await bridge.request('GET', '/drainz'), {
    status: 503,
    body: { state: 'draining', eventId: EventId, impact: 'reboot', notBefore: null },
  });
  await bridge.advance(20 * MINUTE);
  assert.deepEqual(await bridge.request('GET', '/drainz'), SERVING);
});

test('with a notice, the time left is judged at each request', async (t) => {
  const bridge = new VirtualBridge(t, { http: { drain: { notice: { below: '5m' } } } });
  bridge.simulation.schedule({ EventType: 'Reboot', notice: '15m' });
  await bridge.startFor(5 * SECOND);
  assert.equal((await bridge.request('GET', '/drainz')).status, 200);
  await bridge.advance(9 * MINUTE);
  assert.equal((await bridge.request('GET', '/drainz')).status, 200);
  await bridge.advance(MINUTE);
  assert.equal((await bridge.request('GET', '/drainz')).status, 503);
});

test('events of other machines, and a Freeze, drain no machine', async (t) => {
  const bridge = new VirtualBridge(t, DRAIN);
  bridge.simulation.schedule({ EventType: 'Redeploy', Resources: ['other_1'] });
  bridge.simulation.schedule({ EventType: 'Freeze' });
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(await bridge.request('GET', '/drainz'), SERVING);
});

test('a bridge that is blind does not drain its machine', async (t) => {
  const bridge = new VirtualBridge(t, DRAIN);
  bridge.simulation.schedule({ EventType: 'Reboot', notice: '30m' });
  await bridge.startFor(5 * SECOND);
  assert.equal((await bridge.request('GET', '/drainz')).status, 503);
  away(bridge);
  await bridge.advance(2 * MINUTE);
  assert.deepEqual(await bridge.request('GET', '/drainz'), SERVING);
});

test('after a restart what was stored counts, until the first document', async (t) => {
  const bridge = new VirtualBridge(t, DRAIN);
  bridge.simulation.schedule({ EventType: 'Reboot', notice: '30m' });
  await bridge.startFor(5 * SECOND);
  await bridge.kill();
  away(bridge);
  await bridge.start();
  assert.equal((await bridge.request('GET', '/drainz')).status, 503);
});

test('if the name of the VM is unknown, no event counts as its own', async (t) => {
  const bridge = new VirtualBridge(t, { ...DRAIN, cloudevents: { source: '/fleet' } });
  const { service } = bridge;
  bridge.service = async (request, signal) =>
    request.url.includes('/metadata/instance')
      ? { status: 404, headers: {}, body: new Uint8Array() }
      : service(request, signal);
  bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(await bridge.request('GET', '/drainz'), SERVING);
});

test('without http.drain the route is 404, and a reload brings it and takes it away', async (t) => {
  const bridge = new VirtualBridge(t);
  await bridge.startFor(5 * SECOND);
  assert.equal((await bridge.request('GET', '/drainz')).status, 404);
  assert.deepEqual(await bridge.reload({ ...bridge.settings, ...DRAIN }), { kind: 'applied', changed: ['http.drain'] });
  assert.deepEqual(await bridge.request('GET', '/drainz'), SERVING);
  await bridge.reload({ ...bridge.settings, http: {} });
  assert.equal((await bridge.request('GET', '/drainz')).status, 404);
});
