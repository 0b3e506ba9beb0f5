// One call's outcomes → what happens to each member's row.

import type { Acceptance, Outcome } from '../../adapters/adapter.ts';
import { BridgeError } from '../errors.ts';
import { type AttemptOutcome, type Delivery, type Settlement, SUPERSEDED } from '../model/deliveries.ts';

export type Verdict =
  | { readonly row: Delivery; readonly outcome: 'accepted'; readonly settlement: Settlement }
  | {
      readonly row: Delivery;
      readonly outcome: Exclude<AttemptOutcome, 'accepted'>;
      readonly settlement: Settlement;
      readonly error: BridgeError;
    }
  /** Refused together with others: nothing is known of it yet, it goes again in a smaller batch. */
  | { readonly row: Delivery; readonly outcome: 'again' };

/**
 * One verdict for each member, in order. Two or more refused in one call may be the fault of one of them, so none of them is judged, except
 * those that the other side named.
 * A failed row expires where it was queued at `oldestMs` of the store's time or before.
 */
export function judge(rows: readonly Delivery[], outcomes: readonly Outcome[], oldestMs: number): readonly Verdict[] {
  const refusals = outcomes.filter((outcome) => outcome instanceof BridgeError && outcome.disposition === 'refused').length;
  return rows.map((row, index): Verdict => {
    const { seq } = row;
    const outcome = outcomes[index];
    if (!(outcome instanceof BridgeError)) return { row, outcome: 'accepted', settlement: acceptance(row, outcome) };
    // Never null here: null is a row that was given up without an attempt.
    const status = outcome.status ?? outcome.code;
    const disposition = outcome.disposition ?? 'retry';
    if (disposition === 'refused') {
      if (refusals > 1 && !outcome.isNamed) return { row, outcome: 'again' };
      return { row, outcome: 'refused', settlement: { seq, result: 'dead', reason: 'refused', status }, error: outcome };
    }
    if (disposition === 'expired' || row.queuedAtMs <= oldestMs) {
      return { row, outcome: 'expired', settlement: { seq, result: 'dead', reason: 'expired', status }, error: outcome };
    }
    return { row, outcome: disposition, settlement: { seq, result: 'failed', status }, error: outcome };
  });
}

/** Only what announces or changes an event can be agreed to. */
const ASKS: ReadonlySet<string> = new Set(['scheduled', 'updated']);

function acceptance({ seq, id, change }: Delivery, outcome: 'accepted' | Acceptance | undefined): Settlement {
  const { status, approves } = typeof outcome === 'object' ? outcome : {};
  return {
    ...{ seq, result: 'accepted' },
    ...(status !== undefined && { status }),
    ...(approves && ASKS.has(change) && { approves: id }),
  };
}

/** Accepted by the other side, which shows that it takes deliveries; what was superseded shows nothing. */
export function isTaken({ outcome, ...rest }: Verdict): boolean {
  return outcome === 'accepted' && 'settlement' in rest && rest.settlement.status !== SUPERSEDED;
}

/** Failed, and so to be tried again or given up for its age. What came too late for its event says nothing of the sink. */
export function isFailure(verdict: Verdict): verdict is Extract<Verdict, { error: BridgeError }> {
  return 'error' in verdict && verdict.outcome !== 'refused' && verdict.error.disposition !== 'expired';
}
