// Seeds → a day of polls with all that goes wrong in a month: nothing lost, nothing invented.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { DATABASE_FILE } from '../../../src/outbox/folder.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { DayPlan, TROUBLES } from '../../virtual/day-plan.ts';
import { ExpectedEvents } from '../../virtual/expected-events-oracle.ts';
import { FaultyMetadataService } from '../../virtual/faulty-metadata-service.ts';
import type { CloudEvent, FarSide } from '../../virtual/memory-sinks.ts';
import { HOUR, MINUTE, VirtualBridge } from '../../virtual/virtual-bridge.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const SETTINGS = {
  approvals: { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } },
  sinks: {
    audit: { type: 'memory' },
    ...Object.fromEntries(Object.keys(TROUBLES).map((name) => [name, { type: 'memory' }])),
    forgetful: { type: 'memory', batch: 20 },
    picky: { type: 'memory', batch: 20, inFlight: 1 },
  },
};

/** A delivery as the store has it. */
interface Queued {
  readonly sink: string;
  readonly state: string;
  readonly id: string;
  readonly key: string | null;
  readonly text: string;
}

for (const seed of [1, 20_260_101]) {
  test(`a day from the seed ${seed}: every change reaches every sink, in order, with the same bytes, and none is invented`, async (t) => {
    const { random } = new VirtualTime({ seed });
    const bridge = new VirtualBridge(t, SETTINGS, { seed });
    const metadata = new FaultyMetadataService(bridge.simulation, random);
    const expected = new ExpectedEvents(bridge.simulation.simulator, bridge.time.wallMs);
    bridge.service = expected.before(metadata.service);
    for (const [name, trouble] of Object.entries(TROUBLES)) bridge.sink(name).answer = trouble(bridge.time, random);

    await bridge.start();
    const plan = new DayPlan(bridge, metadata, random);
    for (let next = plan.happenings.shift(); next; next = plan.happenings.shift()) {
      await bridge.advance(Math.max(0, next.atMs - bridge.time.elapsedMs()));
      await next.run();
    }
    await bridge.advance(24 * HOUR - bridge.time.elapsedMs());

    const buried = retryDeadLetters(bridge);
    await bridge.advance(MINUTE);
    await bridge.stop();

    assert.ok(expected.nothingIsListed);
    const rows = readDeliveries(bridge.folder);
    const journal = rows.filter(({ sink }) => sink === 'audit');
    checkChanges(expected, journal);
    checkSight(expected, bridge, journal);
    checkApprovals(expected, journal);
    for (const name of Object.keys(SETTINGS.sinks)) {
      checkArrivals(
        bridge.sink(name),
        rows.filter(({ sink }) => sink === name),
        name === 'picky' ? buried : new Set(),
      );
    }
    t.diagnostic(
      `${expected.polls} polls, ${expected.good} good; ${plan.scheduled.length} events, ${expected.sights.size} seen; ${journal.length} CloudEvents; ` +
        `${expected.gaps.length} gaps; ${plan.restarts} restarts, ${plan.kills} kills; ${buried.size} dead letters`,
    );
  });
}

/** As the verb does it, beside the running bridge. @returns the ids of what had been given up */
function retryDeadLetters({ folder, time }: VirtualBridge): Set<string> {
  using outbox = openOutbox(folder, { deps: time, lock: false, synchronous: 'OFF' });
  const buried = new Set([...outbox.deadLetters.list()].map(({ id }) => id));
  outbox.deadLetters.retry();
  return buried;
}

/** In the order in which they were queued. */
function readDeliveries(folder: string): Queued[] {
  const database = new DatabaseSync(join(folder, DATABASE_FILE), { readOnly: true });
  try {
    const rows = database.prepare(
      'SELECT d.sink, d.state, j.id, j.key, j.bytes FROM deliveries d JOIN journal j ON j.seq = d.journal ORDER BY j.seq, d.seq',
    );
    const decoder = new TextDecoder();
    return rows
      .all()
      .map((row) => ({ ...(row as unknown as Queued), text: decoder.decode(row['bytes'] as Uint8Array) }));
  } finally {
    database.close();
  }
}

/** The CloudEvents of each event are what its documents told, and there are none of others. */
function checkChanges(expected: ExpectedEvents, journal: readonly Queued[]): void {
  const byKey = Map.groupBy(
    journal.filter(({ key }) => key !== null),
    ({ key }) => key as string,
  );
  assert.deepEqual([...byKey.keys()].sort(), [...expected.sights.keys()].sort());
  for (const [key, rows] of byKey) {
    expected.checkEvent(
      key,
      rows.map(({ text }) => JSON.parse(text) as CloudEvent),
    );
  }
  assert.equal(new Set(journal.map(({ id }) => id)).size, journal.length, 'ids are unique');
}

/** What a process that starts does not know of the last good document, as its time is stored every other second. */
const HEARTBEAT_MS = 2000;

/** `blind` once for each gap that a process saw for a minute, `restored` after it, and no others. */
function checkSight({ gaps }: ExpectedEvents, { runs }: VirtualBridge, journal: readonly Queued[]): void {
  const seen = gaps.filter((gap) =>
    runs.some((run) => Math.min(gap.toMs, run.toMs) - Math.max(gap.fromMs, run.fromMs) >= MINUTE),
  );
  const told = journal.filter(({ key }) => key === null).map(({ text }) => JSON.parse(text) as CloudEvent);
  assert.deepEqual(
    told.map(({ type }) => type.split('.').at(-2)),
    seen.flatMap(() => ['blind', 'restored']),
  );
  for (const [index, { fromMs, toMs }] of seen.entries()) {
    const [blind = Number.NaN, restored] = told
      .slice(2 * index, 2 * index + 2)
      .map(({ data }) => Date.parse(data.since ?? ''));
    const hasRestarted = runs.some((run) => run.fromMs > fromMs && run.fromMs < toMs);
    const lateMs = Math.floor(fromMs / 1000) * 1000 - blind;
    assert.ok(
      lateMs >= 0 && lateMs <= (hasRestarted ? HEARTBEAT_MS : 0),
      `since is ${lateMs} ms before the last good document`,
    );
    assert.equal(restored, blind);
  }
}

/** One `approval.submitted` for each StartRequest that the service accepted. */
function checkApprovals({ accepted }: ExpectedEvents, journal: readonly Queued[]): void {
  const submitted = journal.filter(({ text }) => text.includes('.approval.submitted.v1')).map(({ key }) => key);
  assert.deepEqual(
    submitted,
    accepted.map((eventId) => eventId.toLowerCase()),
  );
  assert.equal(new Set(accepted).size, accepted.length, 'posted once');
}

/**
 * All of what was queued arrived, as it was journalled, and in order for each partition key; `unordered` came late by
 * an operator's word.
 */
function checkArrivals(side: FarSide, queued: readonly Queued[], unordered: ReadonlySet<string>): void {
  assert.deepEqual(
    queued.filter(({ state }) => state !== 'delivered'),
    [],
  );
  const texts = new Map(queued.map(({ id, text }) => [id, text]));
  const first = new Map<string, string[]>();
  const arrived = new Set<string>();
  for (const { id, text, partitionKey } of side.arrivals) {
    assert.equal(text, texts.get(id), `the bytes of ${id}`);
    if (!arrived.has(id) && !unordered.has(id)) first.set(partitionKey, [...(first.get(partitionKey) ?? []), id]);
    arrived.add(id);
  }
  assert.equal(arrived.size, texts.size);
  const ordered = queued.filter(({ id }) => !unordered.has(id));
  const expected = Map.groupBy(ordered, ({ text }) => (JSON.parse(text) as { partitionkey: string }).partitionkey);
  for (const [key, rows] of expected)
    assert.deepEqual(
      first.get(key),
      rows.map(({ id }) => id),
      `order of ${key}`,
    );
}
