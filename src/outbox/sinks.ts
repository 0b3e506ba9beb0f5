// Configured sinks → the stored data of each: start, consent, events sent.
import { BridgeError } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import type { Database, Statements } from './database.ts';

/** Deliveries of a removed sink are dead-lettered in steps of so many, so that transactions stay small. */
const STEP = 5000;

export const SINKS_SQL = {
  wasSent: 'SELECT 1 AS found FROM sink_occurrences WHERE occurrence = ? AND sink = ?',
  consent: 'SELECT consent FROM sinks WHERE name = ?',
  bury: `UPDATE deliveries SET state = 'dead', reason = 'sink removed', at_ms = ?
    WHERE seq IN (SELECT seq FROM deliveries INDEXED BY deliveries_queue WHERE sink = ? AND state = 'queued' ORDER BY seq LIMIT ${STEP})`,
} as const;

const SQL = {
  ...SINKS_SQL,
  all: 'SELECT name, type, fingerprint, retired_ms FROM sinks ORDER BY name',
  add: 'INSERT INTO sinks (name, type, fingerprint, added_ms) VALUES (?, ?, ?, ?)',
  change:
    'UPDATE sinks SET type = ?, fingerprint = ?, retired_reason = NULL, retired_ms = NULL, consent = NULL WHERE name = ?',
  remove: 'DELETE FROM sinks WHERE name = ?',
  forget: 'DELETE FROM sink_occurrences WHERE sink = ?',
  saveConsent: 'UPDATE sinks SET consent = ? WHERE name = ?',
} as const;

export interface ConfiguredSink {
  readonly name: string;
  readonly type: string;
  /** Changes with the sink's configuration. */
  readonly fingerprint: string;
}

/** The differences in configured sinks, for the log. */
export interface SinkNews {
  /** New sinks, which get CloudEvents from now on. */
  readonly added: readonly string[];
  /** Retired sinks that start again because their configuration changed. */
  readonly unretired: readonly string[];
}

/** The differences that `sync` found, for the log. */
interface SinkDifferences extends SinkNews {
  /** Removed sinks, with the number of dead-lettered deliveries. */
  readonly removed: readonly { readonly sink: string; readonly deadLettered: number }[];
}

interface SinkRow extends ConfiguredSink {
  readonly retired_ms: number | null;
}

interface Rows {
  readonly all: SinkRow;
  readonly wasSent: { found: number };
  readonly consent: { consent: string | null };
}

export class SinkTables {
  readonly #database: Database;
  readonly #wallMs: Deps['wallMs'];
  readonly #sql: Statements<keyof typeof SQL, Rows>;

  constructor(database: Database, wallMs: Deps['wallMs']) {
    this.#database = database;
    this.#wallMs = wallMs;
    this.#sql = database.prepareAll(SQL);
  }

  /** Returns the names of all sinks of the last `run`. */
  names(): readonly string[] {
    return this.#sql.all.all().map(({ name }) => name);
  }

  /** @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN if the last `run` had no such sink */
  expect(sink: string): void {
    const known = this.names();
    if (!known.includes(sink)) throw unknownSink(sink, known);
  }

  types(): ReadonlyMap<string, string> {
    return new Map(this.#sql.all.all().map(({ name, type }) => [name, type]));
  }

  /**
   * Makes the sinks of the store match the configuration: new ones start now, deliveries of removed ones are
   * dead-lettered, changed ones start again.
   */
  sync(configured: readonly ConfiguredSink[]): SinkDifferences {
    const names = new Set(configured.map(({ name }) => name));
    const gone = this.names().filter((name) => !names.has(name));
    const removed = gone.map((sink) => ({ sink, deadLettered: this.remove(sink) }));
    return { ...this.put(configured), removed };
  }

  /** As `sync`, for these sinks only. */
  put(configured: readonly ConfiguredSink[]): SinkNews {
    const atMs = this.#wallMs();
    const stored = new Map(this.#sql.all.all().map((row) => [row.name, row]));
    const added = configured.filter(({ name }) => !stored.has(name));
    const changed = configured.filter(
      ({ name, fingerprint }) => stored.has(name) && stored.get(name)?.fingerprint !== fingerprint,
    );
    if (added.length + changed.length > 0) {
      this.#database.transaction(() => {
        for (const { name, type, fingerprint } of added) this.#sql.add.run(name, type, fingerprint, atMs);
        for (const { name, type, fingerprint } of changed) this.#sql.change.run(type, fingerprint, name);
      });
    }
    const unretired = changed.map(({ name }) => name).filter((name) => (stored.get(name)?.retired_ms ?? null) !== null);
    return { added: added.map(({ name }) => name), unretired };
  }

  /** Returns whether a change of this occurrence was queued for the sink. */
  wasSent(sink: string, occurrence: number): boolean {
    return this.#sql.wasSent.get(occurrence, sink) !== undefined;
  }

  /**
   * Returns the receiver's consent as the adapter stored it, or null before that and after a change of the sink's
   * configuration.
   */
  consent(sink: string): string | null {
    return this.#sql.consent.get(sink)?.consent ?? null;
  }

  saveConsent(sink: string, consent: string | null): void {
    this.#sql.saveConsent.run(consent, sink);
  }

  /**
   * Dead-letters the sink's deliveries, then deletes it. If the process dies, the next start continues. Returns how
   * many.
   */
  remove(sink: string): number {
    const atMs = this.#wallMs();
    let deadLettered = 0;
    for (let step = STEP; step === STEP; deadLettered += step)
      step = this.#database.transaction(() => this.#sql.bury.run(atMs, sink));
    this.#database.transaction(() => {
      this.#sql.forget.run(sink);
      this.#sql.remove.run(sink);
    });
    return deadLettered;
  }
}

function unknownSink(sink: string, known: readonly string[]): BridgeError {
  const names = known.length === 0 ? 'it has none' : `it has ${known.map((name) => `"${name}"`).join(', ')}`;
  return new BridgeError(
    'BRIDGE_STORE_SINK_UNKNOWN',
    `the store has no sink "${sink}"; ${names}. "run" adds the configured sinks to the store when it starts`,
  );
}
