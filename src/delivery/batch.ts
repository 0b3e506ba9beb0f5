// Queued rows → batches for the next calls; a batch refused as a whole → its halves.
import type { Delivery } from '../model/deliveries.ts';

interface BatchLimits {
  /** Members. */
  readonly batch: number;
  /** Bytes of all members together; a larger one goes alone. */
  readonly batchBytes: number;
  /** Whether a key shares no batch with others; none does so by default. */
  readonly isAlone?: (key: string) => boolean;
}

/**
 * Takes rows in queue order into at most `slots` batches. A key is in one batch alone, there with its rows in order, so
 * that no two calls hold the same key at once; its rows that do not fit stay queued.
 */
export function planBatches(
  rows: readonly Delivery[],
  limits: BatchLimits,
  slots: number,
): readonly (readonly Delivery[])[] {
  const batches: Delivery[][] = [];
  const placed = new Map<string, number>();
  let bytes = 0;
  for (const row of rows) {
    let last = batches.length - 1;
    if ((placed.get(row.partitionKey) ?? last) < last) continue;
    let current = batches[last];
    if (
      !current ||
      current.length >= limits.batch ||
      bytes + row.bytes.length > limits.batchBytes ||
      !suits(current, row, limits)
    ) {
      if (placed.has(row.partitionKey)) {
        // The key's next row does not fit: none of its later ones may pass it.
        placed.set(row.partitionKey, -1);
        continue;
      }
      if (batches.length >= slots) break;
      current = [];
      last = batches.push(current) - 1;
      bytes = 0;
    }
    current.push(row);
    bytes += row.bytes.length;
    placed.set(row.partitionKey, last);
  }
  return batches;
}

/** Whether the two may go in one batch. */
function suits([first]: readonly Delivery[], { partitionKey }: Delivery, { isAlone }: BatchLimits): boolean {
  if (!isAlone || !first || first.partitionKey === partitionKey) return true;
  return !isAlone(first.partitionKey) && !isAlone(partitionKey);
}

/** Two halves in order, the first the larger one; none of nothing. */
export function halves(batch: readonly Delivery[]): readonly (readonly Delivery[])[] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)].filter((half) => half.length > 0);
}
