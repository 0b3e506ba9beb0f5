// Keys of events with little notice → their rows, read only if there may be some.
import type { Delivery } from '../../model/deliveries.ts';

export class UrgentRows {
  readonly #read: (keys: readonly string[], limit: number) => readonly Delivery[];
  /** Keys of which nothing was queued when the store was read. */
  readonly #empty = new Set<string>();

  /** `read` gives rows of these keys, in the keys' order, each key's in queue order. */
  constructor(read: (keys: readonly string[], limit: number) => readonly Delivery[]) {
    this.#read = read;
  }

  /** Rows of `keys` that are not named in `except`, by the order of `keys`; at most `limit`. @throws BridgeError BRIDGE_STORE_* */
  take(keys: readonly string[], except: readonly string[], limit: number): readonly Delivery[] {
    const wanted = keys.filter((key) => !this.#empty.has(key) && !except.includes(key));
    if (wanted.length === 0) return [];
    const rows = this.#read(wanted, limit);
    if (rows.length < limit) {
      const here = new Set(rows.map(({ partitionKey }) => partitionKey));
      for (const key of wanted) if (!here.has(key)) this.#empty.add(key);
    }
    return rows;
  }

  /** New rows may be queued. */
  forget(): void {
    this.#empty.clear();
  }
}
