// A metadata service away, slow or back → one source.blind, then one source.restored.
import assert from 'node:assert/strict';
import test from 'node:test';
import { accept, failure } from '../../virtual/scripted-adapter.ts';
import { HOUR, MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

function away(bridge: VirtualBridge, order: object = { status: 503 }): void {
  bridge.simulation.send('PUT', '/simulator/faults', { body: { ...order, times: 1_000_000 } });
}

function back(bridge: VirtualBridge): void {
  bridge.simulation.send('PUT', '/simulator/faults', { body: {} });
}

async function stateOf(bridge: VirtualBridge): Promise<string> {
  const { body } = await bridge.request('GET', '/v1/events');
  return (body as { state: string }).state;
}

test('blind is published 60 s after the last good document, once, and restored with the next one', async (t) => {
  const bridge = new VirtualBridge(t);
  await bridge.startFor(10 * SECOND);
  away(bridge);
  await bridge.advance(59 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, []);
  assert.equal((await bridge.request('GET', '/readyz')).status, 200);
  await bridge.advance(1 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['source.blind']);
  assert.equal(await stateOf(bridge), 'blind');
  assert.deepEqual(await bridge.metrics(/^blind/), ['blind 1']);
  assert.equal((await bridge.request('GET', '/readyz')).status, 503);
  await bridge.advance(3 * HOUR);
  back(bridge);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['source.blind', 'source.restored']);
  const [blind, restored] = bridge.sink('audit').events;
  assert.equal(blind?.data.since, restored?.data.since);
  assert.equal(blind?.data.since, blind?.data.lastDocumentAt);
  assert.match(blind?.data.reason ?? '', /503/);
  assert.equal(await stateOf(bridge), 'watching');
  assert.deepEqual(await bridge.metrics(/^blind/), ['blind 0']);
});

test('a service that takes connections and never answers makes blind too', async (t) => {
  const bridge = new VirtualBridge(t);
  await bridge.startFor(10 * SECOND);
  away(bridge, { delay: '1h' });
  await bridge.advance(61 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['source.blind']);
});

test('restarts while blind repeat nothing, and the first good document after them brings restored', async (t) => {
  const bridge = new VirtualBridge(t, { cloudevents: { source: '/s' } });
  await bridge.startFor(10 * SECOND);
  away(bridge);
  await bridge.advance(2 * MINUTE);
  for (const end of [() => bridge.stop(), () => bridge.kill()]) {
    await end();
    await bridge.startFor(5 * MINUTE);
  }
  assert.deepEqual(bridge.sink('audit').changes, ['source.blind']);
  back(bridge);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['source.blind', 'source.restored']);
});

test('after a kill the minute counts from the first request of the new process, and since is the last good document', async (t) => {
  const bridge = new VirtualBridge(t);
  await bridge.startFor(10 * MINUTE);
  const killedMs = bridge.time.wallMs();
  await bridge.kill();
  await bridge.advance(10 * MINUTE);
  const usual = bridge.service;
  bridge.service = async (request, signal) => {
    const answer = await usual(request, signal);
    return request.url.includes('/metadata/instance') ? answer : { ...answer, status: 503 };
  };
  await bridge.startFor(59 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, []);
  await bridge.advance(2 * SECOND);
  const [blind] = bridge.sink('audit').events;
  const age = killedMs - Date.parse(blind?.data.since ?? '');
  assert.ok(age >= 0 && age <= 2 * SECOND, `${age} ms`);
});

test('without a good document in the last day, blind is published after firstTimeout, and since is the first request', async (t) => {
  const bridge = new VirtualBridge(t, { cloudevents: { source: '/s' }, metadata: { firstTimeout: '130s' } });
  const startedAt = new Date(bridge.time.wallMs()).toISOString();
  away(bridge);
  await bridge.startFor(129 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, []);
  assert.equal(await stateOf(bridge), 'enabling');
  await bridge.advance(2 * SECOND);
  const [blind] = bridge.sink('audit').events;
  assert.equal(blind?.data.since, startedAt.replace('.000Z', 'Z'));
  assert.equal(blind?.data.lastDocumentAt, null);
});

test('a first answer that takes two minutes is waited for', async (t) => {
  const bridge = new VirtualBridge(t, { cloudevents: { source: '/s' } });
  bridge.simulation.schedule({ EventType: 'Reboot' });
  bridge.simulation.send('PUT', '/simulator/faults', { body: { delay: '120s' } });
  await bridge.startFor(121 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
});

for (const jumpMs of [HOUR, -HOUR]) {
  const jump = `${jumpMs > 0 ? 'forward' : 'back'} by an hour`;

  test(`a wall clock that is set ${jump} makes no bridge blind, and keeps none from it`, async (t) => {
    const bridge = new VirtualBridge(t);
    await bridge.startFor(10 * SECOND);
    bridge.time.jumpWall(jumpMs);
    await bridge.advance(5 * MINUTE);
    assert.deepEqual(bridge.sink('audit').changes, []);
    assert.equal((await bridge.request('GET', '/readyz')).status, 200);
    away(bridge);
    await bridge.advance(30 * SECOND);
    bridge.time.jumpWall(-jumpMs);
    await bridge.advance(29 * SECOND);
    assert.deepEqual(bridge.sink('audit').changes, []);
    await bridge.advance(2 * SECOND);
    assert.deepEqual(bridge.sink('audit').changes, ['source.blind']);
    back(bridge);
    await bridge.advance(2 * SECOND);
    assert.deepEqual(bridge.sink('audit').changes, ['source.blind', 'source.restored']);
  });

  test(`a request times out after its own time, though the wall clock was set ${jump}`, async (t) => {
    const bridge = new VirtualBridge(t, { metadata: { timeout: '10s' } });
    await bridge.startFor(10 * SECOND);
    away(bridge, { delay: '1h', method: 'GET' });
    await bridge.advance(5 * SECOND);
    bridge.time.jumpWall(jumpMs);
    await bridge.advance(4 * SECOND);
    assert.equal(bridge.logs.filter(({ code }) => code === 'BRIDGE_METADATA_TIMEOUT').length, 0);
    await bridge.advance(3 * SECOND);
    assert.equal(bridge.logs.filter(({ code }) => code === 'BRIDGE_METADATA_TIMEOUT').length, 1);
  });

  test(`a failing delivery is retried in its own rhythm, though the wall clock was set ${jump}`, async (t) => {
    const bridge = new VirtualBridge(t);
    const calls: number[] = [];
    bridge.sink('audit').answer = (batch) => {
      calls.push(bridge.time.elapsedMs());
      return batch.map(() => failure());
    };
    bridge.simulation.schedule();
    await bridge.startFor(30 * SECOND);
    bridge.time.jumpWall(jumpMs);
    const before = calls.length;
    await bridge.advance(2 * MINUTE);
    const gaps = calls.slice(before).map((ms, place) => ms - (calls[before + place - 1] ?? ms));
    assert.ok(gaps.length >= 12 && Math.max(...gaps) <= 10_001, gaps.join(' '));
    bridge.sink('audit').answer = accept;
    await bridge.advance(11 * SECOND);
    assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
  });
}
