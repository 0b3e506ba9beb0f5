// store.maxSize → a warning, then room made of what was delivered; nothing undelivered is lost.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { accept, always, failure } from '../../virtual/scripted-adapter.ts';
import { MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const MIB = 1024 * 1024;
const MAX = 16 * MIB;
/** A quarter of a MiB and more for each event: its known state, its CloudEvents, their journal. */
const LARGE = { Description: 'x'.repeat(250_000) };

async function play(bridge: VirtualBridge, events: number): Promise<void> {
  for (let n = 0; n < events; n++) {
    const { EventId } = bridge.simulation.schedule(LARGE);
    await bridge.advance(SECOND);
    bridge.simulation.send('POST', `/simulator/events/${EventId}/start`);
    await bridge.advance(2 * SECOND);
    bridge.simulation.send('POST', `/simulator/events/${EventId}/end`);
    await bridge.advance(3 * SECOND);
  }
}

const sizeOf = (bridge: VirtualBridge) => statSync(join(bridge.folder, 'outbox.db')).size;

async function metric(bridge: VirtualBridge, name: string): Promise<number> {
  const text = await bridge.during(fetch(`${bridge.bridge.url}/metrics`).then((response) => response.text()));
  return Number(new RegExp(`^scheduled_events_bridge_${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

test('with store.maxSize delivered rows go early, the oldest first, and it warns once before; no change is lost', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.settings = { store: { maxSize: '16MiB', retain: '30d' } };
  await bridge.startFor(5 * SECOND);
  await play(bridge, 40);
  assert.ok(sizeOf(bridge) <= MAX, `${sizeOf(bridge)}`);
  assert.equal(bridge.sink('audit').changes.length, 120);
  assert.equal(bridge.logged('nearly as large as store.maxSize').length, 1);
  assert.equal(bridge.logged('nothing can be stored').length, 0);
  const ids = bridge.beside('SELECT id FROM journal ORDER BY seq').map(({ id }) => id);
  assert.ok(ids.length > 10 && ids.length < 120, `${ids.length}`);
  assert.equal(bridge.beside('SELECT count(*) AS count FROM used_ids')[0]?.['count'], 120, 'ids stay used');
  assert.equal(await metric(bridge, 'store_max_bytes'), MAX);
  const bytes = await metric(bridge, 'store_bytes');
  assert.ok(bytes > MAX / 2 && bytes < MAX, `${bytes}`);
});

test('a store that reaches store.maxSize with undelivered rows behaves as on a full disk, and continues when they are delivered', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.settings = { store: { maxSize: '16MiB' } };
  bridge.sink('audit').answer = always(failure());
  await bridge.startFor(5 * SECOND);
  await play(bridge, 40);
  assert.ok(sizeOf(bridge) <= MAX, `${sizeOf(bridge)}`);
  const stored = Number(bridge.beside(`SELECT count(*) AS count FROM deliveries WHERE state = 'queued'`)[0]?.['count']);
  assert.ok(stored > 10 && stored < 120, `${stored}`);
  // While it is listed it is tried at each poll; once it is gone, the little that is left to store may fit again.
  bridge.simulation.schedule(LARGE);
  await bridge.advance(2 * SECOND);
  const { status, body } = await bridge.request('GET', '/readyz');
  assert.equal(status, 503);
  assert.match((body as { reasons: string[] }).reasons.join(), /nothing can be stored: .*store\.maxSize/);
  assert.deepEqual(
    bridge
      .logged('nearly as large as store.maxSize')
      .map((line) => Math.floor(Number((line as unknown as { percent: number }).percent) / 10)),
    [8, 9],
  );

  bridge.sink('audit').answer = accept;
  await bridge.advance(10 * MINUTE);
  assert.equal((await bridge.request('GET', '/readyz')).status, 200);
  await play(bridge, 1);
  const delivered = new Set(bridge.sink('audit').arrivals.map(({ id }) => id));
  assert.ok(delivered.size >= stored + 3, `${delivered.size} of ${stored + 3}`);
  assert.equal(bridge.beside(`SELECT count(*) AS count FROM deliveries WHERE state = 'queued'`)[0]?.['count'], 0);
});
