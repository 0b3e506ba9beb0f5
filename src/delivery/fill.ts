// The rows that may go now → calls, as many as there are places for them.
import type { AdapterLimits } from '../../adapters/adapter.ts';
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

/** Of a sink that is well. @throws BridgeError BRIDGE_STORE_* */
export function fillPlaces({ limits, dispatcher, supply, calls }: FillParts, now: Moment): void {
  const { keys, largestBatch } = dispatcher;
  const batch = Math.min(limits.batch, largestBatch);
  for (;;) {
    const slots = supply.slots(calls.count);
    if (slots <= 0) return;
    const limit = Math.min(slots * batch, Math.max(batch, MOST_FETCHED));
    const rows = supply.rows(keys.blocked(now.elapsedMs), limit);
    for (const members of planBatches(rows, { ...limits, batch, isAlone: (key) => keys.isPoisoned(key) }, slots))
      calls.begin(members, false);
    if (rows.length >= limit) continue;
    // With a slot to spare, all that was read is on its way.
    if (supply.slots(calls.count) > 0) keys.forgetAbsent(now.elapsedMs);
    dispatcher.drained();
    return;
  }
}
