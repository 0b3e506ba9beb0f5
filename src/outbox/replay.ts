// A span of the journal → new delivery rows of one sink, at the end of its queue.
import type { StoreClock } from './clock/store-clock.ts';
import type { Database, Statements } from './database.ts';
import type { SinkTables } from './sinks.ts';

/** Small steps, so that a verb delays the commits of a running bridge by only some milliseconds. */
const STEP = 500;

const SQL = {
  find: 'SELECT seq FROM journal WHERE time_ms >= ? AND time_ms <= ? AND (?3 IS NULL OR key = ?3) ORDER BY seq',
  queue: `INSERT INTO deliveries (sink, journal, partition_key, queued_ms, since_ms, state)
    SELECT ?, seq, partition_key, ?, ?, 'queued' FROM journal WHERE seq = ?`,
  remember: `INSERT OR IGNORE INTO sink_occurrences (occurrence, sink)
    SELECT o.occurrence, ? FROM journal j JOIN occurrences o ON o.occurrence = j.occurrence WHERE j.seq = ? AND o.ended_ms IS NULL`,
} as const;

interface ReplayRange {
  readonly sink: string;
  readonly sinceMs: number;
  /** Inclusive. Default: now. */
  readonly untilMs?: number;
  /** EventId in lower case: only the CloudEvents of this event. */
  readonly eventKey?: string;
}

export class Replay {
  readonly #database: Database;
  readonly #sinks: SinkTables;
  readonly #clock: StoreClock;
  readonly #sql: Statements<keyof typeof SQL, { find: { seq: number } }>;

  constructor(database: Database, sinks: SinkTables, clock: StoreClock) {
    this.#database = database;
    this.#sinks = sinks;
    this.#clock = clock;
    this.#sql = database.prepareAll(SQL);
  }

  /**
   * Queues the CloudEvents again in journal order, with the same bytes and ids. Returns how many.
   * @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN
   */
  queue({ sink, sinceMs, untilMs, eventKey }: ReplayRange): number {
    const nowMs = this.#clock.wallMs();
    this.#sinks.expect(sink);
    const found = this.#sql.find.all(sinceMs, untilMs ?? nowMs, eventKey ?? null).map(({ seq }) => seq);
    let count = 0;
    for (let from = 0; from < found.length; from += STEP) {
      const step = found.slice(from, from + STEP);
      count += this.#database.transaction(() => step.reduce((sum, seq) => sum + this.#queueAgain(sink, seq, nowMs), 0));
    }
    return count;
  }

  #queueAgain(sink: string, seq: number, nowMs: number): number {
    this.#sql.remember.run(sink, seq);
    return this.#sql.queue.run(sink, nowMs, this.#clock.nowMs(), seq);
  }
}
