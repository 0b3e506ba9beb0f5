// A LaneStore in memory, with its faults to order, and what a test asks of it afterwards.

import type { LaneStore } from '../../src/delivery/outcome-writer.ts';
import type {
  DeadLetterReason,
  Delivery,
  Pause,
  QueuePosition,
  Retirement,
  Settlement,
  SinkError,
  SinkRecord,
} from '../../src/model/deliveries.ts';
import { URGENT_MS, type Urgent } from '../../src/model/urgency.ts';

export interface DeadRow {
  readonly row: Delivery;
  readonly reason: DeadLetterReason;
  readonly status: number | string | null;
}

export class MemoryLaneStore implements LaneStore {
  readonly #rows = new Map<number, Delivery>();
  readonly #superseded = new Set<number>();
  /** The keys of what was superseded, one after another. */
  readonly #moves: string[] = [];
  /** How often the whole queue was looked through for what is superseded, and the keys of each other look. */
  wholeLooks = 0;
  readonly lookedAt: (readonly string[])[] = [];
  /** By sink, as the lane wrote it. */
  readonly kept = new Map<string, string>();
  /** The events that are known now, by key, and how urgent: the smaller, the more. */
  readonly urgency = new Map<string, number>();
  /** The NotBefore of the events that are Scheduled now, by key; wall time. */
  readonly notBefore = new Map<string, number>();
  readonly #retirements = new Map<string, Retirement>();
  readonly #pauses = new Map<string, Pause>();
  /** Why the last delivery that failed did so. */
  lastError: SinkError | null = null;
  readonly #now: () => number;
  #seq = 0;
  readonly accepted: Delivery[] = [];
  readonly dead: DeadRow[] = [];
  /** The settlements of each call of `settle` that went through. */
  readonly settled: (readonly Settlement[])[] = [];
  readonly asked: { except: readonly string[]; limit: number }[] = [];
  /** The keys of each call of `queuedOf`. */
  readonly askedOf: (readonly string[])[] = [];
  /** Thrown by the method of that name while set. */
  readonly faults: { settle?: Error; queued?: Error; retire?: Error; retirement?: Error; saveRequests?: Error } = {};

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Queues a CloudEvent; whatever is not given is made up. */
  queue(sink: string, partitionKey: string, given: Partial<Delivery> = {}): Delivery {
    this.#seq += 1;
    const row = {
      seq: this.#seq,
      sink,
      id: `${partitionKey}:${this.#seq}`,
      change: 'scheduled',
      partitionKey,
      timeMs: this.#now(),
      bytes: new TextEncoder().encode(`{"id":"${partitionKey}:${this.#seq}"}`),
      queuedAtMs: this.#now(),
      attempts: 0,
      endedAtMs: null,
      ...given,
    };
    this.#rows.set(row.seq, row);
    return row;
  }

  /** Changes rows from outside, as an ending event does. */
  change(partitionKey: string, by: Partial<Delivery>): void {
    for (const [seq, row] of this.#rows) if (row.partitionKey === partitionKey) this.#rows.set(seq, { ...row, ...by });
  }

  /** What is still queued. */
  get open(): readonly Delivery[] {
    return [...this.#rows.values()];
  }

  /** As if the store's time were the date when a test began. */
  nowMs(): number {
    return this.#now();
  }

  queued(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    if (this.faults.queued) throw this.faults.queued;
    this.asked.push({ except, limit });
    const not = new Set(except);
    return this.#some((row) => row.sink === sink && !not.has(row.partitionKey), limit);
  }

  queuedByUrgency(sink: string, except: readonly string[], limit: number): readonly Delivery[] {
    const rows = this.queued(sink, except, Number.POSITIVE_INFINITY);
    const rank = (row: Delivery) => this.urgency.get(row.partitionKey) ?? Number.MAX_VALUE;
    return [...rows].sort((one, other) => rank(one) - rank(other)).slice(0, limit);
  }

  urgent(): Urgent {
    const nowMs = this.#now();
    const left = [...this.notBefore].map(([key, atMs]) => ({ key, atMs })).sort((one, other) => one.atMs - other.atMs);
    const [near, far] = [
      left.filter(({ atMs }) => atMs - nowMs < URGENT_MS),
      left.filter(({ atMs }) => atMs - nowMs >= URGENT_MS),
    ];
    return { keys: near.map(({ key }) => key), nextMs: far[0] ? far[0].atMs - URGENT_MS + 1 : null };
  }

  queuedOf(sink: string, keys: readonly string[], limit: number): readonly Delivery[] {
    if (this.faults.queued) throw this.faults.queued;
    this.askedOf.push(keys);
    return keys
      .flatMap((key) => this.#some((row) => row.sink === sink && row.partitionKey === key, limit))
      .slice(0, limit);
  }

  requests(sink: string): string | null {
    return this.kept.get(sink) ?? null;
  }

  saveRequests(sink: string, requests: string): void {
    if (this.faults.saveRequests) throw this.faults.saveRequests;
    this.kept.set(sink, requests);
  }

  queuedBefore(sink: string, queuedBeforeMs: number, limit: number): readonly Delivery[] {
    return this.#some((row) => row.sink === sink && row.queuedAtMs <= queuedBeforeMs, limit);
  }

  /** By `overtake`. */
  superseded(sink: string, keys: readonly string[], limit: number): readonly Delivery[] {
    this.lookedAt.push(keys);
    return this.#some(
      (row) => row.sink === sink && keys.includes(row.partitionKey) && this.#superseded.has(row.seq),
      limit,
    );
  }

  position(): QueuePosition {
    return { journal: this.#moves.length, delivery: this.#seq };
  }

  movedOn(sink: string, since: QueuePosition | null): readonly string[] {
    if (since !== null) return this.#moves.slice(since.journal);
    this.wholeLooks += 1;
    return this.#some((row) => row.sink === sink && this.#superseded.has(row.seq), Number.POSITIVE_INFINITY).map(
      (row) => row.partitionKey,
    );
  }

  /** The events of these rows have moved on. */
  overtake(...rows: readonly Delivery[]): void {
    for (const { seq, partitionKey } of rows) {
      this.#superseded.add(seq);
      this.#moves.push(partitionKey);
    }
  }

  settle(sink: string, settlements: readonly Settlement[], _atMs = 0, error: SinkError | null = null): void {
    if (this.faults.settle) throw this.faults.settle;
    this.lastError = error ?? this.lastError;
    this.settled.push([...settlements]);
    for (const settlement of settlements) {
      const row = this.#rows.get(settlement.seq);
      if (row?.sink !== sink) throw new Error(`row ${settlement.seq} of ${sink} was settled though it is not queued`);
      if (settlement.result === 'failed') this.#rows.set(row.seq, { ...row, attempts: row.attempts + 1 });
      else this.#rows.delete(row.seq);
      if (settlement.result === 'accepted') this.accepted.push(row);
      if (settlement.result === 'dead') this.dead.push({ row, reason: settlement.reason, status: settlement.status });
    }
  }

  retirement(sink: string): Retirement | null {
    if (this.faults.retirement) throw this.faults.retirement;
    return this.#retirements.get(sink) ?? null;
  }

  retire(sink: string, retirement: Retirement): void {
    if (this.faults.retire) throw this.faults.retire;
    this.#retirements.set(sink, retirement);
  }

  /** Lifts a retirement from outside, as the verb does. */
  resume(sink: string): void {
    this.#retirements.delete(sink);
    this.#pauses.delete(sink);
  }

  /** As an operator does. */
  pause(sink: string, by = 'orders'): void {
    this.#pauses.set(sink, { by, atMs: this.#now() });
  }

  record(sink: string): SinkRecord {
    return { pause: this.#pauses.get(sink) ?? null, lastAcceptedAtMs: null, lastError: this.lastError };
  }

  #some(where: (row: Delivery) => boolean, limit: number): Delivery[] {
    const found: Delivery[] = [];
    for (const row of this.#rows.values()) {
      if (found.length >= limit) break;
      if (where(row)) found.push(row);
    }
    return found;
  }
}
