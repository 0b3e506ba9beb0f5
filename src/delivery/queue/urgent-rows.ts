// Keys of events with little notice → their rows, read only if there may be some.
import type { Delivery } from '../../model/deliveries.ts';
import { ReadAhead } from './read-ahead.ts';

/** The store is asked for so many keys at once. */
const MOST_KEYS = 256;

export class UrgentRows {
  readonly #read: (keys: readonly string[], limit: number) => readonly Delivery[];
  readonly #readAhead = new ReadAhead((except, limit) => this.#rowsOf(except, limit));
  #keys: readonly string[] = [];
  #isUrgent: ReadonlySet<string> = new Set();
  /** Keys of which nothing was queued when the store was read. */
  readonly #empty = new Set<string>();

  /** `read` gives rows of these keys, in the keys' order, each key's in queue order. */
  constructor(read: (keys: readonly string[], limit: number) => readonly Delivery[]) {
    this.#read = read;
  }

  /** Rows of `keys` that are not named in `except`, by the order of `keys`; at most `limit`. @throws BridgeError BRIDGE_STORE_* */
  take(keys: readonly string[], except: readonly string[], limit: number): readonly Delivery[] {
    if (this.#isOther(keys)) this.#readAhead.forget();
    return this.#readAhead.take(except, limit);
  }

  /** Whether the key is one of `keys`, in constant time while these are the same. */
  has(keys: readonly string[], key: string): boolean {
    if (this.#isOther(keys)) this.#readAhead.forget();
    return this.#isUrgent.has(key);
  }

  /** New rows may be queued. */
  forget(): void {
    this.#readAhead.forget();
    this.#empty.clear();
  }

  #isOther(keys: readonly string[]): boolean {
    if (keys === this.#keys) return false;
    this.#keys = keys;
    this.#isUrgent = new Set(keys);
    return true;
  }

  #rowsOf(except: readonly string[], limit: number): readonly Delivery[] {
    const blocked = new Set(except);
    const rows: Delivery[] = [];
    const wanted = this.#keys.filter((key) => !this.#empty.has(key) && !blocked.has(key));
    for (let from = 0; from < wanted.length && rows.length < limit; from += MOST_KEYS) {
      const keys = wanted.slice(from, from + MOST_KEYS);
      const found = this.#read(keys, limit - rows.length);
      const isWhole = found.length < limit - rows.length;
      rows.push(...found);
      if (!isWhole) break;
      const here = new Set(found.map(({ partitionKey }) => partitionKey));
      for (const key of keys) if (!here.has(key)) this.#empty.add(key);
    }
    return rows;
  }
}
