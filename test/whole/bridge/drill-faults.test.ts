// A full disk and wrong clocks, with drills → no step is lost, repeated or late beyond reason.
import assert from 'node:assert/strict';
import test from 'node:test';
import { begin, changesOf, reportOf, running, settings } from '../../virtual/drill-fixture.ts';
import { MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

test('a full store refuses a drill; a running one continues once there is room, and loses nothing', async (t) => {
  const bridge = new VirtualBridge(t, settings());
  bridge.maxPages = 300;
  await bridge.startFor(2 * SECOND);
  const id = await begin(bridge, { notice: '5s', duration: '5s' });
  bridge.fillDisk();
  // What fits into pages that the store has is still written.
  const resources = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(128, 'x'));
  let begun = 1;
  for (const body of [{ resources, notice: '1d' }, { notice: '1d' }]) {
    for (let status = 201; status !== 503; begun += status === 201 ? 1 : 0) {
      ({ status } = await bridge.request('POST', '/v1/drills', { as: 'orders', body }));
      assert.ok(begun < 100);
    }
  }
  assert.equal(bridge.beside('SELECT id FROM drills').length, begun);
  await bridge.advance(30 * SECOND);
  assert.equal((await reportOf(bridge, id)).state, 'scheduled');
  bridge.freeDisk();
  await bridge.advance(10 * SECOND);
  assert.deepEqual(changesOf(await reportOf(bridge, id)), ['scheduled', 'started', 'ended']);
  const told = bridge.sink('audit').events.filter(({ data }) => data.eventId === `drill-${id}`);
  assert.deepEqual(
    told.map(({ type }) => type.split('.').at(-2)),
    ['scheduled', 'started', 'ended'],
  );
});

test('a wall clock that is set moves its NotBefore, and neither repeats nor skips a step', async (t) => {
  const bridge = await running(t);
  const id = await begin(bridge, { notice: '2m', duration: '30s' });
  bridge.time.jumpWall(-10 * MINUTE);
  await bridge.advance(3 * MINUTE);
  assert.equal((await reportOf(bridge, id)).state, 'scheduled');
  bridge.time.jumpWall(20 * MINUTE);
  await bridge.advance(2 * SECOND);
  assert.equal((await reportOf(bridge, id)).state, 'started');
  await bridge.advance(MINUTE);
  assert.deepEqual(changesOf(await reportOf(bridge, id)), ['scheduled', 'started', 'ended']);
});

test('a wall clock that was set back while the bridge was down, or is after its start, makes a drill that has started last no longer', async (t) => {
  const bridge = await running(t);
  const id = await begin(bridge, { notice: '0s', duration: '30s' });
  await bridge.advance(2 * SECOND);
  assert.equal((await reportOf(bridge, id)).state, 'started');
  await bridge.kill();
  bridge.time.jumpWall(-60 * MINUTE);
  await bridge.startFor(20 * SECOND);
  assert.equal((await reportOf(bridge, id)).state, 'started');
  bridge.time.jumpWall(-60 * MINUTE);
  await bridge.advance(15 * SECOND);
  assert.deepEqual(changesOf(await reportOf(bridge, id)), ['scheduled', 'started', 'ended']);
});

test('a cancel that cannot be stored changes nothing, and works when it is repeated', async (t) => {
  const bridge = await running(t);
  const id = await begin(bridge);
  const headers = { authorization: 'Bearer token-of-the-orders-service' };
  const cancel = () => bridge.during(fetch(`${bridge.bridge.url}/v1/drills/${id}`, { method: 'DELETE', headers }));
  const acts = () => bridge.beside('SELECT act FROM operator_acts').map(({ act }) => act);
  bridge.beside("CREATE TRIGGER no_room BEFORE INSERT ON drills BEGIN SELECT RAISE(ABORT, 'no room'); END");
  assert.ok((await cancel()).status >= 500);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(
    [(await reportOf(bridge, id)).state, changesOf(await reportOf(bridge, id)), acts()],
    ['scheduled', ['scheduled'], ['drill']],
  );
  bridge.beside('DROP TRIGGER no_room');
  assert.equal((await cancel()).status, 204);
  await bridge.advance(SECOND);
  assert.deepEqual(
    [changesOf(await reportOf(bridge, id)), acts()],
    [
      ['scheduled', 'ended'],
      ['drill', 'cancel-drill'],
    ],
  );
});
