// Journals of 100 and 1,000,000 events → what a poll costs that brings nothing new.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { DATABASE_FILE } from '../../src/outbox/folder.ts';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { BridgeBetween, pidOf } from './bridge-between.ts';
import { cpuMs, type Row } from './figures.ts';

const JOURNALS = [100, 1_000_000];
const LISTED = [200, 0];
const SETTLE_MS = 5000;
const MEASURE_MS = 10_000;
const EVENT_BYTES = 900;

export async function unchanged(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const listed of LISTED) {
    const figures: string[] = [];
    for (const journalled of JOURNALS) figures.push(`${(await measure(journalled, listed)).toFixed(0)} µs`);
    const what = `unchanged poll, ${listed} events listed: CPU with ${JOURNALS.map((count) => count.toLocaleString('en')).join(' and ')} journalled`;
    rows.push({ what, figure: figures.join(' and '), goal: 'flat' });
  }
  return rows;
}

/** Microseconds of processor time a poll. */
async function measure(journalled: number, listed: number): Promise<number> {
  await using surroundings = await BridgeBetween.start();
  await (await surroundings.startBridge('100ms')).end('SIGTERM');
  fill(join(surroundings.store, DATABASE_FILE), journalled);
  const events = Array.from({ length: listed }, (_, place) => ({ ...EXAMPLE_EVENT, EventId: `listed-${place}` }));
  const bridge = await surroundings.startBridge('50ms');
  await surroundings.metadata.list(events);
  await surroundings.receiver.waitFor(listed);
  await pause(SETTLE_MS);
  const before = { cpu: cpuMs(pidOf(bridge)), polls: surroundings.metadata.polls };
  await pause(MEASURE_MS);
  return ((cpuMs(pidOf(bridge)) - before.cpu) * 1000) / (surroundings.metadata.polls - before.polls);
}

/** Events of the last day that were delivered, as the bridge would have left them. */
function fill(file: string, count: number): void {
  using database = new DatabaseSync(file);
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const ms = Date.now() - 86_400_000;
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    ${numbers} INSERT INTO journal (seq, id, change, key, occurrence, partition_key, time_ms, bytes)
      SELECT 1000 + i, 'past-' || i || ':scheduled', 'scheduled', 'past-' || i, 1000000 + i, 'past-' || i, ${ms}, zeroblob(${EVENT_BYTES}) FROM n;
    INSERT INTO used_ids (seq, id, occurrence, used_ms) SELECT seq, id, occurrence, time_ms FROM journal WHERE seq > 1000;
    INSERT INTO occurrences (occurrence, key, first_seen_ms, ended_ms) SELECT occurrence, key, time_ms, time_ms FROM journal WHERE seq > 1000;
    INSERT INTO sink_occurrences (occurrence, sink) SELECT occurrence, 'hooks' FROM journal WHERE seq > 1000;
    INSERT INTO deliveries (sink, journal, partition_key, queued_ms, state, at_ms)
      SELECT 'hooks', seq, partition_key, time_ms, 'delivered', time_ms FROM journal WHERE seq > 1000;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
}
