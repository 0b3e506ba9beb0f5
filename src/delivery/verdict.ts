// One call's outcomes → what happens to each row, the lane's next state, what to report.

import type { Acceptance, Outcome } from '../../adapters/adapter.ts';
import { BridgeError } from '../errors.ts';
import { type AttemptOutcome, type Delivery, type Settlement, SUPERSEDED } from '../model/deliveries.ts';
import { failedKey, type KeyState } from './key-state.ts';
import {
  afterOpening,
  afterRecovery,
  failedSink,
  type LaneState,
  MOST_FAILING_KEYS,
  refusedProbe,
  URGENT_CAP_MS,
} from './lane-state.ts';
import type { Moment } from './moment.ts';

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
 * One verdict for each member, in order. Two or more refused in one call may be the fault of one of them, so none of
 * them is judged, except those that the other side named. A failed row expires if it was queued at `oldestMs` of the
 * store's time or before.
 */
export function judge(rows: readonly Delivery[], outcomes: readonly Outcome[], oldestMs: number): readonly Verdict[] {
  const refusals = outcomes.filter(
    (outcome) => outcome instanceof BridgeError && outcome.disposition === 'refused',
  ).length;
  return rows.map((row, index): Verdict => {
    const { seq } = row;
    const outcome = outcomes[index];
    if (!(outcome instanceof BridgeError)) return { row, outcome: 'accepted', settlement: acceptance(row, outcome) };
    // Never null here: null is a row that was given up without an attempt.
    const status = outcome.status ?? outcome.code;
    const disposition = outcome.disposition ?? 'retry';
    if (disposition === 'refused') {
      if (refusals > 1 && !outcome.isNamed) return { row, outcome: 'again' };
      return {
        row,
        outcome: 'refused',
        settlement: { seq, result: 'dead', reason: 'refused', status },
        error: outcome,
      };
    }
    if (disposition === 'expired' || row.queuedAtMs <= oldestMs) {
      return {
        row,
        outcome: 'expired',
        settlement: { seq, result: 'dead', reason: 'expired', status },
        error: outcome,
      };
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
function isTaken({ outcome, ...rest }: Verdict): boolean {
  return outcome === 'accepted' && 'settlement' in rest && rest.settlement.status !== SUPERSEDED;
}

/**
 * Failed, and so to be tried again or given up for its age. What came too late for its event says nothing of the sink.
 */
export function isFailure(verdict: Verdict): verdict is Extract<Verdict, { error: BridgeError }> {
  return 'error' in verdict && verdict.outcome !== 'refused' && verdict.error.disposition !== 'expired';
}

/** Of the sink as a whole: the breaker is open, or somebody has to correct something. */
type Trouble = 'open' | 'misconfigured';

/** What a change of the state brings to the log. */
export type News =
  | { readonly kind: 'recovered'; readonly from: ReadonlySet<Trouble> }
  | { readonly kind: 'troubled'; readonly by: ReadonlySet<Trouble>; readonly error: BridgeError }
  /** A key failed so often in a row. `isKnown`: the sink's own trouble explains it. */
  | {
      readonly kind: 'failed';
      readonly row: Delivery;
      readonly error: BridgeError;
      readonly failures: number;
      readonly isKnown: boolean;
    }
  | { readonly kind: 'given up'; readonly row: Delivery; readonly error: BridgeError; readonly outcome: AttemptOutcome }
  | { readonly kind: 'retired'; readonly error: BridgeError };

export interface Changed {
  readonly state: LaneState;
  readonly news: readonly News[];
}

/** What is asked of the events of failed rows. */
interface EventFacts {
  readonly isUrgent: (key: string) => boolean;
  readonly isLongEnded: (row: Delivery, now: Moment) => boolean;
}

/** The sink accepted a delivery, or its preparation succeeded after it had failed. */
export function withRecovery(state: LaneState): Changed {
  const from = troublesOf(state);
  return { state: afterRecovery(state), news: from.size === 0 ? [] : [{ kind: 'recovered', from }] };
}

/**
 * The state after one call. Of several rows of a key the first that failed counts.
 * @param isProbe the call tested a sink whose breaker is open
 */
export function concluded(
  before: LaneState,
  verdicts: readonly Verdict[],
  isProbe: boolean,
  facts: EventFacts,
  now: Moment,
): Changed {
  const isAccepted = verdicts.some(isTaken);
  const start = isAccepted ? withRecovery(before) : { state: before, news: [] };
  const news: News[] = [...start.news];
  let { state } = start;
  // Copied only if a key that failed, now or before, is concerned.
  const changes = verdicts.some((verdict) => isFailure(verdict) || state.keys.has(verdict.row.partitionKey));
  const keys = changes ? new Map(state.keys) : null;
  const failed = new Set<string>();
  for (const verdict of verdicts) {
    const key = verdict.row.partitionKey;
    if (verdict.outcome === 'refused' || verdict.outcome === 'expired') news.push({ kind: 'given up', ...verdict });
    if (verdict.outcome === 'refused') state = { ...state, largestBatch: Number.POSITIVE_INFINITY };
    if (verdict.outcome === 'again' || failed.has(key)) continue;
    if (isFailure(verdict)) {
      failed.add(key);
      state = afterFailure(state, verdict, { keys, isProbe, counts: !isAccepted, facts, news }, now);
    } else succeed(keys, key);
  }
  if (isProbe && !isAccepted && failed.size === 0) state = refusedProbe(state, now);
  return { state: keys ? { ...state, keys } : state, news };
}

interface Conclusion {
  /** Not handed out yet. */
  readonly keys: Map<string, KeyState> | null;
  readonly isProbe: boolean;
  /** Nothing of the same call was accepted: the failure may be the sink's. */
  readonly counts: boolean;
  readonly facts: EventFacts;
  readonly news: News[];
}

function afterFailure(
  before: LaneState,
  { row, error }: Extract<Verdict, { error: BridgeError }>,
  { keys, isProbe, counts, facts, news }: Conclusion,
  now: Moment,
): LaneState {
  const { disposition = 'retry' } = error;
  if (disposition === 'retired') {
    if (before.retired) return before;
    news.push({ kind: 'retired', error });
    return { ...before, retired: { reason: error.message, untilRestart: error.untilRestart } };
  }
  const key = row.partitionKey;
  const withinMs = disposition === 'retry' && facts.isUrgent(key) ? URGENT_CAP_MS : undefined;
  const ofKey = failedKey(keys?.get(key), { disposition, longEnded: facts.isLongEnded(row, now), withinMs }, now);
  keys?.set(key, ofKey);
  const state = failedSink(before, counts ? key : null, error, isProbe, now);
  const known = troublesOf(before);
  const by = new Set([...troublesOf(state)].filter((trouble) => !known.has(trouble)));
  news.push({
    kind: 'failed',
    row,
    error,
    failures: ofKey.failures,
    isKnown: before.opening !== null || by.has('misconfigured'),
  });
  if (by.size > 0) news.push({ kind: 'troubled', by, error });
  if (state.opening || (keys?.size ?? 0) < MOST_FAILING_KEYS || failingOf(keys) < MOST_FAILING_KEYS) return state;
  news.push({ kind: 'troubled', by: new Set(['open']), error });
  return afterOpening(state, error, now);
}

function failingOf(keys: ReadonlyMap<string, KeyState> | null): number {
  return [...(keys?.values() ?? [])].filter(({ failures }) => failures > 0).length;
}

/** The failures of the key are forgotten; whether it was probed is not. */
function succeed(keys: Map<string, KeyState> | null, key: string): void {
  const before = keys?.get(key);
  if (before) keys?.set(key, { ...before, failures: 0, wasCutShort: false, isCause: false });
}

function troublesOf({ opening, isMisconfigured }: LaneState): ReadonlySet<Trouble> {
  return new Set<Trouble>([
    ...(opening ? ['open' as const] : []),
    ...(isMisconfigured ? ['misconfigured' as const] : []),
  ]);
}
