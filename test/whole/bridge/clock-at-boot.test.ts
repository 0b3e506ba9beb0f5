// A clock years behind until NTP sets it → nothing lost, invented or given up (behaviour 12.13).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accept, always, failure } from '../../virtual/scripted-adapter.ts';
import { HOUR, MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** What TLS says to a clock that is years behind. */
const notYetValid = always(failure({ disposition: 'retry', scope: 'sink' }, 'a certificate that is not valid yet'));
const NOW = Date.UTC(2026, 0, 1);
const WHOLE = ['scheduled', 'started', 'ended'];

for (const [year, wrongMs] of [
  ['1970', 0],
  ['2020', Date.UTC(2020, 0, 1)],
] as const) {
  test(`started with the clock of ${year}: what could not be delivered before NTP set it is delivered after it, once`, async (t) => {
    const bridge = new VirtualBridge(t);
    const audit = bridge.sink('audit');
    audit.answer = notYetValid;
    bridge.time.jumpWall(wrongMs - NOW);
    await bridge.startFor(MINUTE);
    bridge.simulation.schedule({ EventType: 'Reboot' });
    await bridge.advance(MINUTE);
    bridge.time.jumpWall(NOW - wrongMs);
    await bridge.advance(2 * MINUTE);
    assert.deepEqual(
      [audit.changes, bridge.beside('SELECT reason FROM deliveries WHERE reason IS NOT NULL')],
      [[], []],
    );
    audit.answer = accept;
    await bridge.advance(30 * SECOND);
    assert.deepEqual(audit.changes, ['scheduled']);
    await bridge.stop();
    await bridge.startFor(HOUR);
    assert.deepEqual(audit.changes, WHOLE);
    assert.equal(audit.events.at(-1)?.data.outcome, 'completed');
  });
}

test('what was queued by a clock years behind is given up a day later and not before, though NTP sets it between or before two more starts', async (t) => {
  const bridge = new VirtualBridge(t);
  const audit = bridge.sink('audit');
  audit.answer = notYetValid;
  bridge.time.jumpWall(-NOW);
  await bridge.startFor(MINUTE);
  bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.advance(MINUTE);
  bridge.time.jumpWall(NOW / 2);
  await bridge.advance(MINUTE);
  await bridge.kill();
  bridge.time.jumpWall(NOW / 2);
  await bridge.startFor(MINUTE);
  await bridge.stop();
  await bridge.startFor(23 * HOUR);
  const states = () =>
    bridge.beside('SELECT DISTINCT state, reason FROM deliveries').map(({ state, reason }) => `${state} ${reason}`);
  assert.deepEqual(states(), ['queued null']);
  await bridge.advance(2 * HOUR);
  assert.ok(states().includes('dead expired'));
});

test('a retired sink drops nothing because NTP set the clock', async (t) => {
  const bridge = new VirtualBridge(t);
  const audit = bridge.sink('audit');
  audit.answer = always(failure({ disposition: 'retired', scope: 'sink' }));
  bridge.time.jumpWall(-NOW);
  await bridge.startFor(MINUTE);
  bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.advance(MINUTE);
  bridge.time.jumpWall(NOW);
  await bridge.advance(12 * HOUR);
  assert.deepEqual(
    bridge.beside('SELECT state FROM deliveries').map(({ state }) => state),
    WHOLE.map(() => 'queued'),
  );
  await bridge.advance(13 * HOUR);
  assert.deepEqual(
    bridge.beside('SELECT reason FROM deliveries').map(({ reason }) => reason),
    WHOLE.map(() => 'expired'),
  );
});

test('an event that was known before the boot is not reported again, at any clock time', async (t) => {
  const bridge = new VirtualBridge(t);
  bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.startFor(MINUTE);
  await bridge.kill();
  bridge.time.jumpWall(-NOW);
  await bridge.startFor(MINUTE);
  bridge.time.jumpWall(NOW);
  await bridge.advance(HOUR);
  assert.deepEqual(bridge.sink('audit').changes, WHOLE);
});
