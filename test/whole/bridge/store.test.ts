// A store that is full, in use, written to from outside or old → what the bridge does.
import assert from 'node:assert/strict';
import test from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { ANY, approve, order, posts } from '../../virtual/posting-fixture.ts';
import { accept, always, failure } from '../../virtual/scripted-adapter.ts';
import { HOUR, MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** So long that its rows need pages of their own. */
const LONG = { Description: 'x'.repeat(20_000) };

test('on a full disk nothing is delivered without its record, readiness says so, and everything continues when there is space', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.maxPages = 200;
  await bridge.startFor(2 * SECOND);
  bridge.fillDisk();
  const { EventId } = bridge.simulation.schedule(LONG);
  await bridge.advance(2 * MINUTE);
  assert.deepEqual(bridge.sink('audit').changes, []);
  const { status, body } = await bridge.request('GET', '/readyz');
  assert.equal(status, 503);
  assert.match((body as { reasons: string[] }).reasons.join(), /nothing can be stored/);
  assert.equal(bridge.logged('nothing can be stored').length, 1);
  assert.deepEqual(await bridge.metrics(/^store_writable/), ['store_writable 0']);

  bridge.simulation.send('POST', `/simulator/events/${EventId}/start`);
  await bridge.advance(5 * SECOND);
  bridge.freeDisk();
  await bridge.advance(2 * SECOND);
  // What came and went unseen while nothing could be stored is told as it is now.
  assert.deepEqual(bridge.sink('audit').changes, ['started']);
  assert.equal((await bridge.request('GET', '/readyz')).status, 200);
  assert.deepEqual(await bridge.metrics(/^store_writable/), ['store_writable 1']);
  assert.equal(bridge.logged('can be stored again').length, 1);
  assert.equal(bridge.beside('SELECT id FROM journal').length, 1);
});

test('a disk that is full while a sink is away loses nothing of what was stored before', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.maxPages = 200;
  bridge.sink('audit').answer = always(failure());
  bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  bridge.fillDisk();
  bridge.simulation.schedule(LONG);
  await bridge.advance(10 * SECOND);
  bridge.sink('audit').answer = accept;
  await bridge.advance(20 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
  bridge.freeDisk();
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'scheduled']);
});

test('on a full disk no StartRequest goes out for an event that the last document lists as Started', async (t) => {
  const bridge = new VirtualBridge(t, { approvals: ANY });
  bridge.maxPages = 400;
  const { EventId } = bridge.simulation.schedule(LONG);
  order(bridge, { status: 503 });
  await bridge.startFor(2 * SECOND);
  await approve(bridge, 'orders', EventId);
  assert.ok(posts(bridge).length > 0);
  bridge.fillDisk();
  bridge.simulation.order('POST', `/events/${EventId}/start`);
  await bridge.advance(1500);
  const before = posts(bridge).length;
  await bridge.advance(8 * SECOND);
  assert.equal(bridge.logged('nothing can be stored').length, 1);
  assert.equal(posts(bridge).length, before);
});

test('on a full disk, a document that lists events ends a row of empty answers', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.maxPages = 400;
  bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const empty = (times: number) => order(bridge, { method: 'GET', status: 200, body: '', times });
  empty(2);
  await bridge.advance(2 * SECOND);
  bridge.fillDisk();
  bridge.simulation.schedule(LONG);
  await bridge.advance(9 * SECOND);
  bridge.freeDisk();
  empty(3);
  await bridge.advance(5 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'scheduled']);
});

test('a second run on the same store is refused, and the first one continues', async (t) => {
  const bridge = new VirtualBridge(t);
  await bridge.startFor(2 * SECOND);
  const second = new VirtualBridge(t);
  second.folder = bridge.folder;
  await assert.rejects(second.start(), { code: 'BRIDGE_STORE_LOCKED' });
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
});

test('dead letters that a verb queues again are sent within a second', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.sink('audit').answer = always(failure({ disposition: 'refused', status: 422 }));
  bridge.simulation.schedule({ NotBefore: '' });
  await bridge.startFor(2 * SECOND);
  bridge.sink('audit').answer = accept;
  await bridge.advance(MINUTE);
  assert.deepEqual(bridge.sink('audit').changes, []);
  {
    using outbox = openOutbox(bridge.folder, { deps: bridge.time, lock: false });
    assert.equal(outbox.deadLetters.retry(), 1);
  }
  await bridge.advance(SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
});

test('a replay that a verb queues is sent within a second, with the same bytes', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.simulation.schedule({ NotBefore: '' });
  await bridge.startFor(2 * SECOND);
  {
    using outbox = openOutbox(bridge.folder, { deps: bridge.time, lock: false });
    assert.equal(outbox.replay.queue({ sink: 'audit', sinceMs: 0 }), 1);
  }
  await bridge.advance(SECOND);
  const [first, second] = bridge.sink('audit').arrivals;
  assert.equal(second?.text, first?.text);
});

test('what was delivered is pruned after store.retain; what is undelivered, dead or of a live event stays', async (t) => {
  const bridge = new VirtualBridge(t, {
    store: { retain: '1h' },
    sinks: { audit: { type: 'memory' }, away: { type: 'memory', filter: { impacts: ['Reboot'] } } },
  });
  bridge.sink('away').answer = always(failure());
  for (let i = 0; i < 50; i++) bridge.simulation.schedule();
  bridge.simulation.schedule({ NotBefore: '', EventType: 'Redeploy' });
  const reboot = bridge.simulation.schedule({ NotBefore: '', EventType: 'Reboot' });
  await bridge.startFor(HOUR);
  bridge.simulation.send('POST', `/simulator/events/${reboot.EventId}/cancel`);
  await bridge.advance(2 * HOUR);
  const left = bridge.beside('SELECT change FROM journal ORDER BY seq') as { change: string }[];
  // The two that the sink has yet to get, and the beginning of the one that is still listed.
  assert.deepEqual(
    left.map(({ change }) => change),
    ['scheduled', 'scheduled', 'ended'],
  );
  bridge.sink('away').answer = accept;
  await bridge.advance(6 * MINUTE);
  assert.deepEqual(bridge.sink('away').changes, ['scheduled', 'ended']);
});

test('a thousand events in one document are stored in one transaction and all delivered, each sink in order', async (t) => {
  const bridge = new VirtualBridge(t, {
    sinks: { one: { type: 'memory' }, batches: { type: 'memory', batch: 100, inFlight: 1 } },
  });
  await bridge.startFor(2 * SECOND);
  for (let i = 0; i < 1000; i++) bridge.simulation.schedule({ EventType: 'Terminate' });
  await bridge.advance(SECOND);
  assert.equal(bridge.beside('SELECT id FROM journal').length, 1000);
  const ids = (bridge.beside('SELECT id FROM journal ORDER BY seq') as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(
    bridge.sink('one').arrivals.map(({ id }) => id),
    ids,
  );
  assert.deepEqual(
    bridge.sink('batches').arrivals.map(({ id }) => id),
    ids,
  );
  assert.equal(bridge.sink('batches').calls, 10);
  await bridge.advance(20 * MINUTE);
  for (const name of ['one', 'batches'])
    assert.equal(new Set(bridge.sink(name).arrivals.map(({ id }) => id)).size, 3000);
});
