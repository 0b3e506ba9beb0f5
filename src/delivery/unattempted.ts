// Queued rows → those that end without an attempt: too old for a retired sink, or superseded.
import { type Delivery, type QueuePosition, SUPERSEDED } from '../model/deliveries.ts';
import type { CallsOptions } from './calls.ts';
import { occupied, released, succeeded } from './lane-state.ts';
import type { Moment } from './moment.ts';
import type { LaneStore } from './outcome-writer.ts';

const AT_ONCE = 500;
/**
 * Rows of a retired sink are looked at when the first is too old; no later than that, as the first may go otherwise.
 */
const EXPIRY_CHECK_MS = { least: 100, most: 60_000 } as const;

interface UnattemptedOptions extends Pick<CallsOptions, 'name' | 'lane' | 'queue' | 'writer' | 'report' | 'oldestMs'> {
  readonly store: Pick<LaneStore, 'queued' | 'queuedBefore' | 'superseded' | 'movedOn' | 'position'>;
  /** Whether a delivery is over if its event has changed, started or ended since (behaviour 10.4). */
  readonly cancels: boolean;
}

/** The same for each row. */
type Ending = { result: 'accepted'; status: string } | { result: 'dead'; reason: 'expired'; status: null };
type Row = Pick<Delivery, 'seq' | 'partitionKey'>;

export class Unattempted {
  readonly #options: UnattemptedOptions;
  /** By row; only of a sink that cancels. */
  readonly #running = new Map<number, AbortController>();
  /** Keys that may have rows that have been superseded. */
  readonly #moved = new Set<string>();
  /** The last position of the queue that was searched for such keys; null: none yet. */
  #position: QueuePosition | null = null;
  #isStale = true;

  constructor(options: UnattemptedOptions) {
    this.#options = options;
  }

  /** A call begins: what aborts once its event has moved on; undefined if the sink does not cancel. */
  begin(batch: readonly Delivery[]): AbortSignal | undefined {
    if (!this.#options.cancels) return undefined;
    const superseded = new AbortController();
    for (const { seq } of batch) this.#running.set(seq, superseded);
    return superseded.signal;
  }

  end(batch: readonly Delivery[]): void {
    for (const { seq } of batch) this.#running.delete(seq);
  }

  /** Events may have moved on, or rows may be queued again. */
  invalidate(): void {
    this.#isStale = true;
  }

  /** Ends calls of superseded rows. @returns all superseded rows, in a call or queued */
  endRunning(): readonly Row[] {
    if (!this.#options.cancels) return [];
    const superseded = this.#superseded();
    for (const { seq } of superseded) this.#running.get(seq)?.abort();
    return superseded;
  }

  /**
   * Ends all superseded rows: those in a call by its signal, the others as accepted.
   * @throws BridgeError BRIDGE_STORE_*
   */
  supersede(): void {
    const { lane, queue, report } = this.#options;
    const waiting = this.endRunning().filter((row) => !this.#isBusy(row));
    if (waiting.length === 0) return;
    this.#settle(waiting, { result: 'accepted', status: SUPERSEDED }, () => {
      // What follows in the key does not wait for what it failed with.
      lane.state = succeeded(lane.state, waiting);
      report.superseded(waiting.length);
    });
    queue.invalidate();
  }

  /**
   * Rows of a retired sink that are too old become dead letters, a chunk at a time.
   * @returns when (elapsed time) to look again
   */
  expire({ elapsedMs }: Moment): number | null {
    const { name, store, queue, report } = this.#options;
    queue.invalidate();
    const oldestMs = this.#options.oldestMs();
    const old = store.queuedBefore(name, oldestMs, AT_ONCE).filter((row) => !this.#isBusy(row));
    if (old.length > 0) {
      this.#settle(old, { result: 'dead', reason: 'expired', status: null }, () => report.expired(old.length));
      return null;
    }
    const [first] = store.queued(name, [], 1);
    if (!first) return null;
    const leftMs = first.queuedAtMs - oldestMs;
    return elapsedMs + Math.min(Math.max(leftMs, EXPIRY_CHECK_MS.least), EXPIRY_CHECK_MS.most);
  }

  /**
   * Looks at what has moved on since the last look, not at the whole queue; a key whose rows could not end yet is
   * looked at again.
   */
  #superseded(): readonly Row[] {
    const { name, store } = this.#options;
    if (this.#isStale) {
      const position = store.position();
      for (const key of store.movedOn(name, this.#position)) this.#moved.add(key);
      this.#position = position;
      this.#isStale = false;
    }
    if (this.#moved.size === 0) return [];
    const superseded = store.superseded(name, [...this.#moved], AT_ONCE);
    if (superseded.length < AT_ONCE) {
      this.#moved.clear();
      for (const { partitionKey } of superseded) this.#moved.add(partitionKey);
    }
    return superseded;
  }

  /** Their keys are free once that is stored. */
  #settle(rows: readonly Row[], ending: Ending, whenStored: () => void): void {
    const { lane, writer } = this.#options;
    lane.state = occupied(lane.state, rows);
    const settlements = rows.map(({ seq }) => ({ seq, ...ending }));
    writer.add(settlements, () => {
      whenStored();
      lane.state = released(lane.state, rows);
    });
  }

  #isBusy({ partitionKey }: Row): boolean {
    const { lane, queue } = this.#options;
    return lane.state.busy.has(partitionKey) || queue.heldKeys().has(partitionKey);
  }
}
