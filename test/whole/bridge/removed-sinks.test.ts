// A sink that reloads remove and add again, and a store that fails meanwhile → its queue stays.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { always, failure } from '../../virtual/scripted-adapter.ts';
import { SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const MEMORY = { type: 'memory' };
const WITH = { sinks: { audit: MEMORY, x: MEMORY } };
const WITHOUT = { sinks: { audit: MEMORY } };

/** Six events are queued for sink `x`, which accepts nothing; then the store refuses to drop it, until `mend`. */
async function queuedInFailingStore(t: TestContext): Promise<VirtualBridge> {
  const bridge = new VirtualBridge(t, WITH);
  bridge.sink('x').answer = always(failure());
  await bridge.startFor(2 * SECOND);
  for (let event = 0; event < 6; event++) bridge.simulation.schedule();
  await bridge.advance(5 * SECOND);
  bridge.beside(`CREATE TRIGGER broken BEFORE UPDATE ON deliveries WHEN NEW.reason = 'sink removed'
    BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END`);
  return bridge;
}

function mend(bridge: VirtualBridge): void {
  bridge.beside('DROP TRIGGER broken');
}

async function viewOf(bridge: VirtualBridge, sink: string): Promise<unknown> {
  const { body } = await bridge.request('GET', '/v1/sinks');
  const view = (body as { name: string; queued: number; deadLetters: number }[]).find(({ name }) => name === sink);
  return view && { queued: view.queued, deadLetters: view.deadLetters };
}

test('a sink that is removed and added again while the store fails keeps its queue, and the store keeps the sink', async (t) => {
  const bridge = await queuedInFailingStore(t);
  assert.equal((await bridge.during(bridge.reload(WITHOUT))).kind, 'applied');
  await bridge.advance(3 * SECOND);
  assert.equal((await bridge.during(bridge.reload(WITH))).kind, 'applied');
  mend(bridge);
  await bridge.advance(5 * SECOND);
  assert.deepEqual(bridge.logged('no longer configured'), []);
  assert.deepEqual(await viewOf(bridge, 'x'), { queued: 6, deadLetters: 0 });
  bridge.sink('x').answer = (batch) => batch.map(() => 'accepted');
  await bridge.advance(30 * SECOND);
  assert.equal(bridge.sink('x').arrivals.length, 6);
  assert.equal(bridge.beside(`SELECT 1 FROM sinks WHERE name = 'x' AND accepted_ms IS NOT NULL`).length, 1);
});

test('a sink that is removed, added again and removed once more while the store fails is given up once', async (t) => {
  const bridge = await queuedInFailingStore(t);
  for (const settings of [WITHOUT, WITH, WITHOUT]) {
    assert.equal((await bridge.during(bridge.reload(settings))).kind, 'applied');
    await bridge.advance(2 * SECOND);
  }
  const calls = bridge.sink('x').calls;
  mend(bridge);
  await bridge.advance(5 * SECOND);
  assert.deepEqual(
    bridge.logged('no longer configured').map(({ sink, deadLettered }) => [sink, deadLettered]),
    [['x', 6]],
  );
  assert.equal(bridge.sink('x').calls, calls, 'nothing is sent to it any more');
  assert.equal(bridge.beside(`SELECT 1 FROM sinks WHERE name = 'x'`).length, 0);
});

test('a sink that is added again once the store has dropped it is a new one', async (t) => {
  const bridge = await queuedInFailingStore(t);
  await bridge.during(bridge.reload(WITHOUT));
  mend(bridge);
  await bridge.advance(5 * SECOND);
  bridge.sink('x').answer = (batch) => batch.map(() => 'accepted');
  await bridge.during(bridge.reload(WITH));
  bridge.simulation.schedule();
  await bridge.advance(5 * SECOND);
  assert.equal(bridge.sink('x').arrivals.length, 1);
  assert.deepEqual(await viewOf(bridge, 'x'), { queued: 0, deadLetters: 6 });
});
