// The rows that may go now → calls, as many as there are places for them.
import type { AdapterLimits } from '../../adapters/adapter.ts';
import type { Delivery } from '../model/deliveries.ts';
import type { Moment } from './backoff.ts';
import { planBatches } from './batch.ts';
import type { Calls } from './calls.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { QueueReader } from './queue/queue-reader.ts';

const MOST_FETCHED = 256;

export interface FillParts {
  readonly limits: AdapterLimits;
  readonly dispatcher: Dispatcher;
  readonly supply: QueueReader;
  readonly calls: Calls;
}

/** Of a sink that is well: what is urgent first. @throws BridgeError BRIDGE_STORE_* */
export function fillPlaces(parts: FillParts, now: Moment): void {
  fillUrgent(parts, now);
  const { limits, dispatcher, supply, calls } = parts;
  const { keys, largestBatch } = dispatcher;
  const batch = Math.min(limits.batch, largestBatch);
  for (;;) {
    const slots = supply.slots(calls.count);
    if (slots <= 0) return;
    const limit = mostRows(slots, batch);
    const rows = supply.rows(keys.blocked(now.elapsedMs), limit);
    begin(parts, rows, { batch, slots });
    if (rows.length >= limit) continue;
    // With a slot to spare, all that was read is on its way.
    if (supply.slots(calls.count) > 0) keys.forgetAbsent(now.elapsedMs);
    dispatcher.drained();
    return;
  }
}

/** In batches of their own, so that no refusal of another member delays them. */
function fillUrgent(parts: FillParts, now: Moment): void {
  const { limits, dispatcher, supply, calls } = parts;
  const batch = Math.min(limits.batch, dispatcher.largestBatch);
  for (;;) {
    const slots = supply.urgentSlots(calls.count);
    if (slots <= 0) return;
    const rows = supply.urgentRows(() => dispatcher.keys.blocked(now.elapsedMs), mostRows(slots, batch));
    if (rows.length === 0) return;
    begin(parts, rows, { batch, slots });
  }
}

function begin({ limits, dispatcher, calls }: FillParts, rows: readonly Delivery[], plan: { batch: number; slots: number }): void {
  const isAlone = (key: string) => dispatcher.keys.isPoisoned(key);
  for (const members of planBatches(rows, { ...limits, batch: plan.batch, isAlone }, plan.slots)) calls.begin(members, false);
}

function mostRows(slots: number, batch: number): number {
  return Math.min(slots * batch, Math.max(batch, MOST_FETCHED));
}
