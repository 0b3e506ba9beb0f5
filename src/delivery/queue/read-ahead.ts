// A sink's rows, read in blocks → those that may go now; the rest wait in memory.
import type { Delivery } from '../../model/deliveries.ts';

/** Each has a CloudEvent's bytes, some KB at most. */
const AHEAD = 32;

export class ReadAhead {
  readonly #read: (except: readonly string[], limit: number) => readonly Delivery[];
  /** Each the first of its key, or behind it; none of a key that a row was taken of since they were read. */
  #rows: readonly Delivery[] = [];

  /** `read` gives rows in queue order, of keys not named in `except`. */
  constructor(read: (except: readonly string[], limit: number) => readonly Delivery[]) {
    this.#read = read;
  }

  /**
   * Rows of keys not named in `except`, in queue order within each key; less than `limit` only where the store has no more. Between keys
   * the order is that of the queue, but for those that were not free when the store was read.
   */
  take(except: readonly string[], limit: number): readonly Delivery[] {
    const blocked = new Set(except);
    const free = this.#rows.filter(({ partitionKey }) => !blocked.has(partitionKey));
    const rows = free.length >= limit ? free : this.#read(except, Math.max(limit, AHEAD));
    const taken = rows.slice(0, limit);
    // What becomes of a row decides whether the next one of its key may follow: that one is read again then.
    const keys = new Set(taken.map(({ partitionKey }) => partitionKey));
    this.#rows = rows.slice(limit).filter(({ partitionKey }) => !keys.has(partitionKey));
    return taken;
  }

  /** Rows of these keys are taken by other means. */
  drop(keys: readonly string[]): void {
    if (keys.length > 0) this.#rows = this.#rows.filter(({ partitionKey }) => !keys.includes(partitionKey));
  }

  /** The store changed by other means than the outcomes of taken rows. */
  forget(): void {
    this.#rows = [];
  }
}
