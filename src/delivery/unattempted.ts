// Queued rows → those that end without an attempt: too old for a retired sink, or overtaken.
import { type Delivery, type QueuePosition, SUPERSEDED } from '../model/deliveries.ts';
import type { Queue } from '../outbox/queue.ts';
import type { Moment } from './backoff.ts';
import type { KeyBackoff } from './key-backoff.ts';
import type { LaneReport } from './lane-report.ts';
import type { OutcomeWriter } from './outcome-writer.ts';

const AT_ONCE = 500;
/** Rows of a retired sink are looked at when the first is too old; no later than that, as the first may go otherwise. */
const EXPIRY_CHECK_MS = { least: 100, most: 60_000 } as const;

export interface UnattemptedParts {
  /** The sink's name. */
  readonly name: string;
  readonly store: Pick<Queue, 'queued' | 'queuedBefore' | 'overtaken' | 'movedOn' | 'position'>;
  /** What was queued then, or before, is too old; in the store's time. */
  readonly oldestMs: () => number;
  /** Whether a delivery is over where its event has changed, started or ended since (behaviour 10.4). */
  readonly cancels: boolean;
  readonly keys: KeyBackoff;
  readonly settlements: OutcomeWriter;
  readonly report: LaneReport;
}

export class Unattempted {
  readonly #parts: UnattemptedParts;
  /** By row; only of a sink that cancels. */
  readonly #running = new Map<number, AbortController>();
  /** Keys that may have rows that have been overtaken. */
  readonly #moved = new Set<string>();
  /** Up to where was looked for such keys; null: nowhere yet. */
  #position: QueuePosition | null = null;
  #isStale = true;

  constructor(parts: UnattemptedParts) {
    this.#parts = parts;
  }

  /** A call begins: what aborts once its event has moved on; undefined where the sink does not cancel. */
  begin(batch: readonly Delivery[]): AbortSignal | undefined {
    if (!this.#parts.cancels) return undefined;
    const overtaken = new AbortController();
    for (const { seq } of batch) this.#running.set(seq, overtaken);
    return overtaken.signal;
  }

  /** The call has ended. */
  end(batch: readonly Delivery[]): void {
    for (const { seq } of batch) this.#running.delete(seq);
  }

  /** What has been overtaken ends: rows that wait as superseded, a running call by its signal. @returns whether rows did */
  supersede(): boolean {
    const { keys, settlements, report } = this.#parts;
    const waiting = this.endRunning().filter(({ partitionKey }) => !keys.isBusy(partitionKey));
    if (waiting.length === 0) return false;
    keys.occupy(waiting);
    settlements.add(
      waiting.map(({ seq }) => ({ seq, result: 'accepted', status: SUPERSEDED })),
      () => {
        // What follows in the key does not wait for what it failed with.
        for (const { partitionKey } of waiting) keys.succeed(partitionKey);
        keys.release(waiting);
        report.superseded(waiting.length);
      },
    );
    return true;
  }

  /** Events may have moved on, or rows may be queued again. */
  forget(): void {
    this.#isStale = true;
  }

  /** What runs and has been overtaken ends. @returns all that has been overtaken, whether it runs or waits */
  endRunning(): readonly Pick<Delivery, 'seq' | 'partitionKey'>[] {
    if (!this.#parts.cancels) return [];
    const overtaken = this.#overtaken();
    for (const { seq } of overtaken) this.#running.get(seq)?.abort();
    return overtaken;
  }

  /** Looks at what has moved on since the last look, not at the whole queue; a key whose rows could not end yet is looked at again. */
  #overtaken(): readonly Pick<Delivery, 'seq' | 'partitionKey'>[] {
    const { name, store } = this.#parts;
    if (this.#isStale) {
      const position = store.position();
      for (const key of store.movedOn(name, this.#position)) this.#moved.add(key);
      this.#position = position;
      this.#isStale = false;
    }
    if (this.#moved.size === 0) return [];
    const overtaken = store.overtaken(name, [...this.#moved], AT_ONCE);
    if (overtaken.length < AT_ONCE) {
      this.#moved.clear();
      for (const { partitionKey } of overtaken) this.#moved.add(partitionKey);
    }
    return overtaken;
  }

  /** Rows of a retired sink that are too old become dead letters, a chunk at a time. @returns when (elapsed time) to look again */
  expire(now: Moment): number | null {
    const { name, store, keys, settlements, report } = this.#parts;
    const oldestMs = this.#parts.oldestMs();
    const old = store.queuedBefore(name, oldestMs, AT_ONCE).filter((row) => !keys.isBusy(row.partitionKey));
    if (old.length === 0) {
      const [first] = store.queued(name, [], 1);
      if (!first) return null;
      const leftMs = first.queuedAtMs - oldestMs;
      return now.elapsedMs + Math.min(Math.max(leftMs, EXPIRY_CHECK_MS.least), EXPIRY_CHECK_MS.most);
    }
    keys.occupy(old);
    settlements.add(
      old.map(({ seq }) => ({ seq, result: 'dead', reason: 'expired', status: null })),
      () => {
        keys.release(old);
        report.expired(old.length);
      },
    );
    return null;
  }
}
