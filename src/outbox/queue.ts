// A sink's delivery rows → those due next; outcomes → the rows; the lane's other stored state.
import type {
  Delivery,
  Pause,
  QueuePosition,
  Retirement,
  Settlement,
  SinkError,
  SinkRecord,
} from '../model/deliveries.ts';
import type { Urgent } from '../model/urgency.ts';
import type { StoreClock } from './clock/store-clock.ts';
import type { Database, Statements } from './database.ts';
import { expectEntry } from './integrity.ts';
import { type DeliveryRow, QUEUE_SQL, type QueueRows } from './queue/queue-sql.ts';
import type { SinkTables } from './sinks.ts';

/** The queued deliveries and the dead letters of a sink. Counts stop at 100,000; the date follows the current clock. */
interface Backlog {
  readonly queued: number;
  readonly oldestQueuedAtMs: number | null;
  readonly dead: number;
}

interface QueueParts {
  readonly clock: StoreClock;
  readonly sinks: Pick<SinkTables, 'expect'>;
  /** The partition keys of known events, the most urgent first. */
  readonly keysByUrgency: () => readonly string[];
  /** The events with deliveries that go before all others. Cheap to call. */
  readonly urgent: () => Urgent;
}

export class Queue {
  readonly #database: Database;
  readonly #parts: QueueParts;
  readonly #sql: Statements<keyof typeof QUEUE_SQL, QueueRows>;

  constructor(database: Database, parts: QueueParts) {
    this.#database = database;
    this.#parts = parts;
    this.#sql = database.prepareAll(QUEUE_SQL);
  }

  /** Returns queued deliveries of `sink` in queue order, at most `limit`, without the partition keys in `except`. */
  queued(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    return this.#sql.queued.all(sink, JSON.stringify(except), limit).map(this.#toDelivery);
  }

  /**
   * As `queued`, but deliveries of currently known events come first, by urgency, then the bridge's own; each key in
   * queue order.
   */
  queuedByUrgency(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    const not = new Set(except);
    const keys = this.#parts.keysByUrgency().filter((key) => !not.has(key));
    const rows = keys.length === 0 ? [] : this.queuedOf(sink, keys, limit);
    if (rows.length >= limit) return rows;
    const here = new Set(rows.map(({ partitionKey }) => partitionKey));
    return [...rows, ...this.queued(sink, [...except, ...here], limit - rows.length)];
  }

  /**
   * Returns queued deliveries of `sink` with these keys, in the order of the keys, those of a key in queue order; at
   * most `limit`.
   */
  queuedOf(sink: string, keys: readonly string[], limit: number): readonly Delivery[] {
    return this.#sql.queuedOf.all(sink, JSON.stringify(keys), limit).map(this.#toDelivery);
  }

  /** Returns the known events with deliveries that go before all others, by the current clock. */
  urgent(): Urgent {
    return this.#parts.urgent();
  }

  /** Returns the store's own time, which `queuedAtMs` of a delivery uses. */
  readonly nowMs = (): number => this.#parts.clock.nowMs();

  /**
   * Returns deliveries queued at or before this moment of the store's time, the oldest first, at most `limit`. For a
   * retired sink: its old deliveries expire without an attempt.
   */
  queuedBefore(sink: string, beforeMs: number, limit: number): readonly Delivery[] {
    return this.#sql.queuedBefore.all(sink, beforeMs, limit).map(this.#toDelivery);
  }

  /**
   * Writes outcomes in one transaction. It is durable if it has a dead letter; a power failure may lose an acceptance,
   * which causes a duplicate. Skips rows that another process has removed. @param error of the last failed delivery
   */
  settle(sink: string, settlements: readonly Settlement[], atMs: number, error: SinkError | null = null): void {
    const write = () => this.#database.transaction(() => this.settleWithin(sink, settlements, atMs, error));
    // If a power failure undoes an acceptance, a duplicate is sent; a lost dead letter would be lost for the operator.
    if (settlements.some(({ result }) => result === 'dead')) write();
    else this.#database.relaxed(write);
  }

  /** As `settle`, inside an open transaction. */
  settleWithin(sink: string, settlements: readonly Settlement[], atMs: number, error: SinkError | null = null): void {
    for (const settlement of settlements) this.#settle(sink, settlement, atMs);
    const isAccepted = settlements.some(({ result }) => result === 'accepted');
    if (isAccepted || error !== null)
      this.#sql.recordOutcome.run(isAccepted ? atMs : null, error && JSON.stringify(error), sink);
  }

  /**
   * Returns queued deliveries of `sink` with these keys and an event that has changed, started or ended since; at most
   * `limit`.
   */
  superseded(sink: string, keys: readonly string[], limit: number): readonly Pick<Delivery, 'seq' | 'partitionKey'>[] {
    return this.#sql.superseded.all(sink, JSON.stringify(keys), limit).map((row) => ({ ...row }));
  }

  position(): QueuePosition {
    const { journal, delivery } = this.#sql.position.get() ?? { journal: null, delivery: null };
    return { journal: journal ?? 0, delivery: delivery ?? 0 };
  }

  /**
   * Returns the keys with deliveries of `sink` that may have been superseded since these positions; null: with any
   * superseded delivery. A key may be returned twice.
   */
  movedOn(sink: string, since: QueuePosition | null): readonly string[] {
    const rows =
      since === null
        ? this.#sql.supersededKeys.all(sink)
        : [
            ...this.#sql.movedKeys.all(since.journal),
            ...this.#sql.requeuedKeys.all(sink, since.delivery, since.journal),
          ];
    return rows.map(({ partition_key }) => partition_key);
  }

  backlog(sink: string): Backlog {
    return {
      queued: this.#sql.countQueued.get(sink)?.count ?? 0,
      oldestQueuedAtMs: this.#parts.clock.dateMs(this.#sql.oldest.get(sink)?.since_ms ?? null),
      dead: this.#sql.countDead.get(sink)?.count ?? 0,
    };
  }

  /** Returns null if the sink is not retired. */
  retirement(sink: string): Retirement | null {
    const row = this.#sql.retirement.get(sink);
    return row === undefined || row.retired_ms === null ? null : { reason: row.retired_reason, atMs: row.retired_ms };
  }

  /** Retires a sink durably. @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN before `sinks.sync` has added it */
  retire(sink: string, { reason, atMs }: Retirement): void {
    if (this.#sql.retire.run(reason, atMs, sink) === 0) this.#parts.sinks.expect(sink);
  }

  /** Returns the record of a sink. It is empty for an unknown sink. */
  record(sink: string): SinkRecord {
    const row = this.#sql.record.get(sink);
    const pause: Pause | null =
      row === undefined || row.paused_ms === null ? null : { by: row.paused_by, atMs: row.paused_ms };
    const lastAcceptedAtMs = row?.accepted_ms ?? null;
    return {
      pause,
      lastAcceptedAtMs,
      lastError: row?.last_error == null ? null : (JSON.parse(row.last_error) as SinkError),
    };
  }

  /**
   * Pauses a sink durably, in one transaction with `note`. Does nothing if it is already paused.
   * @throws BridgeError BRIDGE_STORE_SINK_UNKNOWN
   */
  pause(sink: string, { by, atMs }: Pause, note: () => void = () => {}): void {
    this.#parts.sinks.expect(sink);
    this.#database.transaction(() => {
      if (this.#sql.pause.run(by, atMs, sink) > 0) note();
    });
  }

  /**
   * Resumes a retired or paused sink, in one transaction with `note`. Returns the lifted retirement, else the lifted
   * pause, or null.
   */
  resume(sink: string, note: () => void = () => {}): Retirement | null {
    this.#parts.sinks.expect(sink);
    return this.#database.transaction(() => {
      const { pause } = this.record(sink);
      const lifted = this.retirement(sink) ?? (pause && { reason: `paused by ${pause.by}`, atMs: pause.atMs });
      if (lifted !== null && this.#sql.resume.run(sink) > 0) note();
      return lifted;
    });
  }

  /** Returns the last value of `saveRequests`, or null. */
  requests(sink: string): string | null {
    return this.#sql.requests.get(sink)?.requests ?? null;
  }

  /**
   * Stores the requests of the last minute. After a power failure the rate may be exceeded once, so it needs no fsync.
   */
  saveRequests(sink: string, requests: string): void {
    this.#database.relaxed(() => this.#sql.saveRequests.run(requests, sink));
  }

  /** @throws BridgeError BRIDGE_STORE_DAMAGED if the CloudEvent has changed on disk */
  readonly #toDelivery = ({ sum, ...delivery }: DeliveryRow): Delivery => {
    expectEntry(this.#database, { ...delivery, sum });
    return delivery;
  };

  #settle(sink: string, settlement: Settlement, atMs: number): void {
    const { seq } = settlement;
    if (settlement.result === 'accepted') this.#sql.accept.run(atMs, settlement.status ?? null, seq, sink);
    else if (settlement.result === 'failed') this.#sql.fail.run(settlement.status, atMs, seq, sink);
    else {
      const { reason, status } = settlement;
      // Deliveries of a retired sink expire without an attempt, and so without a status.
      this.#sql.deadLetter.run(Number(reason === 'refused' || status !== null), reason, status, atMs, seq, sink);
    }
  }
}
