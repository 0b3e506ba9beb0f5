// A number → a delivery with a known line, for the writer and its test.
import type { Delivery } from '../../../../src/model/deliveries.ts';

/** Some longer than a sector; some files are longer than a page. */
export function lineOf(number: number): string {
  return JSON.stringify({
    specversion: '1.0',
    id: `event-${number}`,
    data: { resources: 'vm '.repeat((number * 97) % 400) },
  });
}

export function deliveryOf(number: number): Delivery {
  const [id, key] = [`event-${number}:scheduled`, `event-${number}`];
  const bytes = new TextEncoder().encode(lineOf(number));
  const times = { timeMs: 1_000_000, queuedAtMs: 1_000_000, endedAtMs: null };
  return { seq: number, sink: 'archive', id, change: 'scheduled', partitionKey: key, bytes, attempts: 0, ...times };
}
