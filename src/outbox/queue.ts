// A sink's delivery rows → those due next; outcomes → the rows; what its lane keeps beside them.
import type { Delivery, Pause, QueuePosition, Retirement, Settlement, SinkError, SinkRecord } from '../model/deliveries.ts';
import type { Urgent } from '../model/urgency.ts';
import type { StoreClock } from './clock/store-clock.ts';
import type { Database, Statements } from './database.ts';
import { QUEUE_SQL, type QueueRows, toDelivery } from './queue/queue-sql.ts';
import { type SinkTables, unknownSink } from './sinks.ts';

/** What a sink has yet to take, and what was given up. Counts end at 100,000; the date is by the clock as it is now. */
export interface Backlog {
  readonly queued: number;
  readonly oldestQueuedAtMs: number | null;
  readonly dead: number;
}

export interface QueueParts {
  readonly clock: StoreClock;
  readonly sinks: Pick<SinkTables, 'names'>;
  /** The partition keys whose rows come first, the most urgent one first. */
  readonly keysByUrgency: () => readonly string[];
  /** The events that go before everything else; cheap to ask. */
  readonly urgent: () => Urgent;
}

export class Queue {
  readonly #database: Database;
  readonly #parts: QueueParts;
  readonly #sql: Statements<QueueRows>;

  constructor(database: Database, parts: QueueParts) {
    this.#database = database;
    this.#parts = parts;
    this.#sql = database.prepareAll<QueueRows>(QUEUE_SQL);
  }

  /** Rows still to be delivered to `sink`, in queue order, of partition keys not named in `except`; at most `limit`. */
  queued(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    return this.#sql.queued.all(sink, JSON.stringify(except), limit).map(toDelivery);
  }

  /** As `queued`, but rows of events that are known now come first, by urgency, then what the bridge says of itself; each key's in queue order. */
  queuedByUrgency(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    const not = new Set(except);
    const keys = this.#parts.keysByUrgency().filter((key) => !not.has(key));
    const rows = keys.length === 0 ? [] : this.queuedOf(sink, keys, limit);
    if (rows.length >= limit) return rows;
    const here = new Set(rows.map(({ partitionKey }) => partitionKey));
    return [...rows, ...this.queued(sink, [...except, ...here], limit - rows.length)];
  }

  /** Rows still to be delivered to `sink` of these keys, in their order, each key's in queue order; at most `limit`. */
  queuedOf(sink: string, keys: readonly string[], limit: number): readonly Delivery[] {
    return this.#sql.queuedOf.all(sink, JSON.stringify(keys), limit).map(toDelivery);
  }

  /** The known events that go before everything else, by the clock as it is now. */
  urgent(): Urgent {
    return this.#parts.urgent();
  }

  /** The store's own time, in which a delivery's `queuedAtMs` is. */
  readonly nowMs = (): number => this.#parts.clock.nowMs();

  /** Rows queued at or before this moment of the store's time, the oldest first; at most `limit`. For a retired sink, whose old rows expire unattempted. */
  queuedBefore(sink: string, beforeMs: number, limit: number): readonly Delivery[] {
    return this.#sql.queuedBefore.all(sink, beforeMs, limit).map(toDelivery);
  }

  /**
   * One transaction. Durable where a row was dead-lettered; an acceptance may be lost with the machine's power, which costs a repeat. A row that
   * another process took away meanwhile is passed over. @param error why the last delivery that failed did so
   */
  settle(sink: string, settlements: readonly Settlement[], atMs: number, error: SinkError | null = null): void {
    const write = () => this.#database.transaction(() => this.settleWithin(sink, settlements, atMs, error));
    // An acceptance that a loss of power undoes costs a repeat; a dead letter would be lost to who looks for it.
    if (settlements.some(({ result }) => result === 'dead')) write();
    else this.#database.relaxed(write);
  }

  /** The same inside a transaction that is open. */
  settleWithin(sink: string, settlements: readonly Settlement[], atMs: number, error: SinkError | null = null): void {
    for (const settlement of settlements) this.#settle(sink, settlement, atMs);
    const isAccepted = settlements.some(({ result }) => result === 'accepted');
    if (isAccepted || error !== null) this.#sql.recordOutcome.run(isAccepted ? atMs : null, error && JSON.stringify(error), sink);
  }

  /** Rows still to be delivered to `sink`, of these keys, whose event has changed, started or ended since; each key's in queue order, at most `limit`. */
  overtaken(sink: string, keys: readonly string[], limit: number): readonly Pick<Delivery, 'seq' | 'partitionKey'>[] {
    return this.#sql.overtaken.all(sink, JSON.stringify(keys), limit).map(({ seq, partition_key }) => ({ seq, partitionKey: partition_key }));
  }

  /** Where journal and queue end now. */
  position(): QueuePosition {
    const { journal, delivery } = this.#sql.position.get() ?? { journal: null, delivery: null };
    return { journal: journal ?? 0, delivery: delivery ?? 0 };
  }

  /** Keys of which rows of `sink` may be overtaken now that were not when journal and queue ended there; null: of which any are. Some may come twice. */
  movedOn(sink: string, since: QueuePosition | null): readonly string[] {
    const rows =
      since === null
        ? this.#sql.overtakenKeys.all(sink)
        : [...this.#sql.movedKeys.all(since.journal), ...this.#sql.requeuedKeys.all(sink, since.delivery, since.journal)];
    return rows.map(({ partition_key }) => partition_key);
  }

  backlog(sink: string): Backlog {
    return {
      queued: this.#sql.countQueued.get(sink)?.count ?? 0,
      oldestQueuedAtMs: this.#parts.clock.dateMs(this.#sql.oldest.get(sink)?.since_ms ?? null),
      dead: this.#sql.countDead.get(sink)?.count ?? 0,
    };
  }

  /** Null where the sink is not retired. */
  retirement(sink: string): Retirement | null {
    const row = this.#sql.retirement.get(sink);
    return row === undefined || row.retired_ms === null ? null : { reason: row.retired_reason, atMs: row.retired_ms };
  }

  /** Durable. @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN before `sinks.sync` named it */
  retire(sink: string, { reason, atMs }: Retirement): void {
    if (this.#sql.retire.run(reason, atMs, sink) === 0) throw unknownSink(sink, this.#parts.sinks.names());
  }

  /** How it stands with a sink; of one that the store does not know nothing has happened. */
  record(sink: string): SinkRecord {
    const row = this.#sql.record.get(sink);
    const pause: Pause | null = row === undefined || row.paused_ms === null ? null : { by: row.paused_by, atMs: row.paused_ms };
    const lastAcceptedAtMs = row?.accepted_ms ?? null;
    return { pause, lastAcceptedAtMs, lastError: row?.last_error == null ? null : (JSON.parse(row.last_error) as SinkError) };
  }

  /** Durable, in one transaction with `note`. One that is paused already stays as it is, unnoted. @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN */
  pause(sink: string, { by, atMs }: Pause, note: () => void = () => {}): void {
    const known = this.#parts.sinks.names();
    if (!known.includes(sink)) throw unknownSink(sink, known);
    this.#database.transaction(() => {
      if (this.#sql.pause.run(by, atMs, sink) > 0) note();
    });
  }

  /** As `pause`: lets a sink that is retired, paused or both deliver again. Returns what is lifted, a retirement before a pause; null where nothing is. */
  resume(sink: string, note: () => void = () => {}): Retirement | null {
    const known = this.#parts.sinks.names();
    if (!known.includes(sink)) throw unknownSink(sink, known);
    return this.#database.transaction(() => {
      const { pause } = this.record(sink);
      const lifted = this.retirement(sink) ?? (pause && { reason: `paused by ${pause.by}`, atMs: pause.atMs });
      if (lifted !== null && this.#sql.resume.run(sink) > 0) note();
      return lifted;
    });
  }

  /** What `saveRequests` was given last; null before. */
  requests(sink: string): string | null {
    return this.#sql.requests.get(sink)?.requests ?? null;
  }

  /** Outlives the process. A loss of power may lose it, which exceeds the rate at worst, so it costs no fsync. */
  saveRequests(sink: string, requests: string): void {
    this.#database.relaxed(() => this.#sql.saveRequests.run(requests, sink));
  }

  #settle(sink: string, settlement: Settlement, atMs: number): void {
    const { seq } = settlement;
    if (settlement.result === 'accepted') this.#sql.accept.run(atMs, settlement.status ?? null, seq, sink);
    else if (settlement.result === 'failed') this.#sql.fail.run(settlement.status, atMs, seq, sink);
    else {
      const { reason, status } = settlement;
      // Rows of a retired sink expire without an attempt: then there is no error.
      this.#sql.deadLetter.run(Number(reason === 'refused' || status !== null), reason, status, atMs, seq, sink);
    }
  }
}
