// A service that restarts, forgets, answers with nothing → events end when proven (behaviour 4.4).
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { FaultyMetadataService } from '../../virtual/faulty-metadata-service.ts';
import { hostsInTurn } from '../../virtual/hosts-in-turn.ts';
import { HOUR, MINUTE, SECOND, VirtualBridge } from '../../virtual/virtual-bridge.ts';

/** A bridge that knows one event scheduled far ahead; its service can restart. */
async function watching(t: TestContext) {
  const bridge = new VirtualBridge(t);
  const metadata = new FaultyMetadataService(bridge.simulation, bridge.time.random);
  bridge.service = metadata.service;
  const { EventId } = bridge.simulation.schedule({
    NotBefore: new Date(bridge.time.wallMs() + 6 * HOUR).toUTCString(),
  });
  bridge.simulation.schedule({ NotBefore: '', EventType: 'Reboot' });
  await bridge.startFor(10 * SECOND);
  return {
    bridge,
    metadata,
    cancel: () => bridge.simulation.send('POST', `/simulator/events/${EventId}/cancel`),
    audit: bridge.sink('audit'),
  };
}

const KNOWN = ['scheduled', 'scheduled'];

test('a service that restarts and finds its events again within settle ends none of them', async (t) => {
  const { bridge, metadata, audit } = await watching(t);
  metadata.restart(4 * MINUTE);
  await bridge.advance(HOUR);
  assert.deepEqual(audit.changes, KNOWN);
});

test('an event that a restarted service no longer lists ends after settle, with outcome unknown', async (t) => {
  const { bridge, metadata, cancel, audit } = await watching(t);
  metadata.restart(MINUTE);
  cancel();
  await bridge.advance(5 * MINUTE - SECOND);
  assert.deepEqual(audit.changes, KNOWN);
  await bridge.advance(3 * SECOND);
  assert.deepEqual(audit.changes, [...KNOWN, 'ended']);
  assert.equal(audit.events.at(-1)?.outcome, 'unknown');
});

test('without a restart of the service a cancelled event ends at the next poll, with outcome canceled', async (t) => {
  const { bridge, cancel, audit } = await watching(t);
  cancel();
  await bridge.advance(SECOND);
  assert.deepEqual(audit.changes, [...KNOWN, 'ended']);
  assert.equal(audit.events.at(-1)?.outcome, 'canceled');
});

for (const end of ['stop', 'kill'] as const) {
  test(`after a ${end} settle goes on where it was, neither shorter nor longer`, async (t) => {
    const { bridge, metadata, cancel, audit } = await watching(t);
    metadata.restart(MINUTE);
    cancel();
    await bridge.advance(2 * MINUTE);
    const startedMs = bridge.time.elapsedMs();
    await bridge[end]();
    await bridge.start();
    const passedMs = 2 * MINUTE + bridge.time.elapsedMs() - startedMs;
    await bridge.advance(5 * MINUTE - passedMs - SECOND);
    assert.deepEqual(audit.changes, KNOWN);
    await bridge.advance(3 * SECOND);
    assert.deepEqual(audit.changes, [...KNOWN, 'ended']);
  });
}

for (const jumpMs of [HOUR, -HOUR]) {
  test(`a wall clock set ${jumpMs > 0 ? 'forward' : 'back'} by an hour neither shortens nor prolongs settle`, async (t) => {
    const { bridge, metadata, cancel, audit } = await watching(t);
    metadata.restart(MINUTE);
    cancel();
    await bridge.advance(2 * MINUTE);
    bridge.time.jumpWall(jumpMs);
    await bridge.advance(3 * MINUTE - SECOND);
    assert.deepEqual(audit.changes, KNOWN);
    await bridge.advance(3 * SECOND);
    assert.deepEqual(audit.changes, [...KNOWN, 'ended']);
  });
}

for (const end of ['stop', 'kill', null] as const) {
  test(`two hosts that answer in turn: only a missing event ends, after three settle times, ${end === null ? 'without a stop' : `with a ${end}`} in between`, async (t) => {
    const { bridge, cancel, audit } = await watching(t);
    bridge.service = hostsInTurn(bridge.service);
    await bridge.advance(20 * MINUTE);
    assert.deepEqual(audit.changes, KNOWN);
    cancel();
    const cancelledMs = bridge.time.elapsedMs();
    await bridge.advance(6 * MINUTE);
    if (end !== null) {
      await bridge[end]();
      await bridge.start();
    }
    await bridge.advance(cancelledMs + 15 * MINUTE - 5 * SECOND - bridge.time.elapsedMs());
    assert.deepEqual(audit.changes, KNOWN);
    await bridge.advance(10 * SECOND);
    assert.deepEqual(audit.changes, [...KNOWN, 'ended']);
    assert.equal(audit.events.at(-1)?.outcome, 'unknown');
    await bridge.advance(20 * MINUTE);
    assert.deepEqual(audit.changes, [...KNOWN, 'ended']);
  });
}

test('empty answers end events with the third in a row that comes 10 s after the first', async (t) => {
  const { bridge, audit } = await watching(t);
  const empty = (times: number) =>
    bridge.simulation.send('PUT', '/simulator/faults', { body: { status: 200, body: '', times } });
  empty(9);
  await bridge.advance(20 * SECOND);
  assert.deepEqual(audit.changes, KNOWN);
  empty(11);
  await bridge.advance(20 * SECOND);
  // The service lists them again after that: a second life, with ids of its own.
  assert.deepEqual(audit.changes, [...KNOWN, 'ended', 'ended', ...KNOWN]);
  assert.deepEqual(
    audit.arrivals.slice(4).map(({ id }) => id.split(':').slice(1).join(':')),
    ['scheduled:r2', 'scheduled:r2'],
  );
});

test('a bridge that was away for more than a day does not take what is missing for ended before settle', async (t) => {
  const { bridge, cancel, audit } = await watching(t);
  await bridge.stop();
  cancel();
  await bridge.advance(25 * HOUR);
  await bridge.startFor(4 * MINUTE);
  assert.deepEqual(
    audit.changes.filter((change) => change === 'ended'),
    [],
  );
  await bridge.advance(2 * MINUTE);
  assert.equal(audit.changes.filter((change) => change === 'ended').length, 1);
});
