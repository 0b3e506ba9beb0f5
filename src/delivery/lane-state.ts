// A lane's state and an event → its state after it. Pure: clocks and chance are handed in.
import type { BridgeError, Disposition } from '../errors.ts';
import type { Delivery, Pause } from '../model/deliveries.ts';
import { backoffMs, LIVE_CAP_MS } from '../time/backoff.ts';
import { type KeyState, type Keys, mapped, NO_FAILURE, without } from './key-state.ts';
import type { Moment } from './moment.ts';

/** With so many failing keys the breaker opens, and they are not remembered one by one. */
export const MOST_FAILING_KEYS = 1000;
/** After so many different keys failed in a row, without a success, the breaker opens. */
const KEYS_THAT_OPEN = 3;
/** The most that a `Retry-After` counts for. */
const LONGEST_HOLD_MS = 3_600_000;
/** The longest wait while the event is urgent (behaviour 5.24). */
export const URGENT_CAP_MS = 2_000;

/** The breaker is open: probes alone go out. */
interface Opening {
  /** Failed probes in a row, the failures that opened it counting as the first. */
  readonly failures: number;
  /** When the next probe may go; elapsed time. */
  readonly dueMs: number;
  /** Of the last failure. */
  readonly disposition: Disposition;
  /** Whether only events are queued that ended long ago. */
  readonly longEnded: boolean;
  /** The last failure asks to be tried again within so long. */
  readonly withinMs: number | undefined;
}

/** All that a lane remembers of its sink beyond the queue. One value is followed by the next; none ever changes. */
export interface LaneState {
  /** By an operator. */
  readonly pause: Pause | null;
  /** The sink wants no more deliveries. */
  readonly retired: { readonly reason: string; readonly untilRestart: boolean } | null;
  /** `Retry-After`; elapsed time. */
  readonly heldUntilMs: number;
  /** Null: the breaker is closed. */
  readonly opening: Opening | null;
  /** The keys that failed since the last success, as long as the breaker is closed: fewer than three. */
  readonly streak: ReadonlySet<string>;
  readonly isMisconfigured: boolean;
  /** The last preparation failed: the next one that succeeds is a recovery. */
  readonly isUnprepared: boolean;
  readonly lastFailure: string | null;
  readonly wasProbeUrgent: boolean;
  /**
   * Members of a batch that make sense now: fewer while a refused batch could not be halved at once, so that the next
   * one is smaller.
   */
  readonly largestBatch: number;
  /** Calls that run. */
  readonly calls: number;
  /** Keys in a call, or whose outcome is not stored yet. */
  readonly busy: ReadonlySet<string>;
  /** Keys that failed or were probed. Copied when one of them changes; a healthy key costs no copy. */
  readonly keys: Keys;
}

/** The lane's state as it is now. Each change puts another value in its place. */
export interface StateHolder {
  state: LaneState;
}

export const INITIAL: LaneState = {
  ...{
    pause: null,
    retired: null,
    heldUntilMs: 0,
    opening: null,
    streak: new Set(),
    isMisconfigured: false,
    isUnprepared: false,
  },
  ...{
    lastFailure: null,
    wasProbeUrgent: false,
    largestBatch: Number.POSITIVE_INFINITY,
    calls: 0,
    busy: new Set(),
    keys: new Map(),
  },
};

/** Rows of these keys are in a call, or end without one. */
export function occupied(state: LaneState, rows: readonly Pick<Delivery, 'partitionKey'>[]): LaneState {
  return { ...state, busy: new Set([...state.busy, ...rows.map(({ partitionKey }) => partitionKey)]) };
}

/** What came of these rows is stored: their keys are free. */
export function released(state: LaneState, rows: readonly Pick<Delivery, 'partitionKey'>[]): LaneState {
  const free = new Set(rows.map(({ partitionKey }) => partitionKey));
  const well = [...free].filter((key) => state.keys.get(key)?.failures === 0);
  const keys = well.length === 0 ? state.keys : without(state.keys, (key) => well.includes(key));
  return { ...state, busy: new Set([...state.busy].filter((key) => !free.has(key))), keys };
}

/** The keys of these rows go on: their failures are forgotten. */
export function succeeded(state: LaneState, rows: readonly Pick<Delivery, 'partitionKey'>[]): LaneState {
  const free = new Set(rows.map(({ partitionKey }) => partitionKey));
  if (![...free].some((key) => state.keys.has(key))) return state;
  return {
    ...state,
    keys: mapped(state.keys, (each, key) =>
      free.has(key) ? { ...each, failures: 0, wasCutShort: false, isCause: false } : each,
    ),
  };
}

/**
 * A key failed, and perhaps the sink as a whole. @param key null if others of the same call were accepted: the sink
 * works
 * @param isProbe whether the call was the probe of an open breaker
 */
export function failedSink(
  state: LaneState,
  key: string | null,
  error: BridgeError,
  isProbe: boolean,
  now: Moment,
): LaneState {
  const { disposition, retryAfterMs, scope } = error;
  const holdMs = retryAfterMs === undefined ? 0 : now.elapsedMs + Math.min(retryAfterMs, LONGEST_HOLD_MS);
  const failed: LaneState = {
    ...state,
    lastFailure: error.message,
    heldUntilMs: Math.max(state.heldUntilMs, holdMs),
    isMisconfigured: state.isMisconfigured || disposition === 'misconfigured',
  };
  if (state.opening) return isProbe ? { ...failed, opening: probedAgain(state.opening, error, now) } : failed;
  const streak = key === null ? state.streak : new Set([...state.streak, key]);
  return scope === 'sink' || streak.size >= KEYS_THAT_OPEN ? afterOpening(failed, error, now) : { ...failed, streak };
}

/** From now on one delivery at a time, until one is accepted. */
export function afterOpening(state: LaneState, error: BridgeError, now: Moment): LaneState {
  const first: Opening = { failures: 0, dueMs: 0, disposition: 'retry', longEnded: false, withinMs: undefined };
  return { ...state, opening: probedAgain(first, error, now), streak: new Set() };
}

/** A probe was refused, which says nothing of the sink: the next one comes after the same wait. */
export function refusedProbe(state: LaneState, now: Moment): LaneState {
  return state.opening ? { ...state, opening: due(state.opening, now) } : state;
}

/**
 * The sink accepted a delivery, or could be prepared. If the breaker was open, keys that back off may go at once. One
 * that could go early before and failed since keeps its own back-off: it is the cause, and the others must not wait for
 * it at each recovery.
 */
export function afterRecovery(state: LaneState): LaneState {
  const { opening, isMisconfigured, streak } = state;
  if (!opening && !isMisconfigured && streak.size === 0) return state;
  const well: LaneState = { ...state, opening: null, isMisconfigured: false, streak: new Set() };
  if (!opening) return well;
  const early = (each: KeyState, key: string): KeyState =>
    state.busy.has(key) || each.failures === 0 || each.isCause
      ? { ...each, probed: null }
      : { ...each, probed: null, dueMs: 0, wasCutShort: true };
  return { ...well, keys: mapped(state.keys, early) };
}

/** The retirement was lifted: the sink starts as a new one, and any other trouble from before has to show again. */
export function resumed(state: LaneState): LaneState {
  return { ...forgotten(afterRecovery(state)), retired: null, heldUntilMs: 0, lastFailure: null };
}

/** New rows are queued: a probe that waits for events that ended long ago is due as for a live one. */
export function rowsQueued(state: LaneState, now: Moment): LaneState {
  return probedWithin(state, LIVE_CAP_MS, now);
}

/** Urgent rows wait: the next probe comes soon, unless somebody has to correct something. */
export function urgentQueued(state: LaneState, now: Moment): LaneState {
  return state.opening?.disposition === 'misconfigured' ? state : probedWithin(state, URGENT_CAP_MS, now);
}

/** The row goes out as a probe; its failure backs off for the most urgent of what is queued. */
export function probing(
  state: LaneState,
  { partitionKey }: Delivery,
  probe: { readonly isUrgent: boolean; readonly isAlive: boolean; readonly longEnded: boolean },
): LaneState {
  const keys = new Map(state.keys);
  keys.set(partitionKey, { ...(keys.get(partitionKey) ?? NO_FAILURE), probed: probe.isAlive ? 'alive' : 'long ended' });
  const opening = state.opening && { ...state.opening, longEnded: probe.longEnded };
  return { ...state, keys, opening, wasProbeUrgent: probe.isUrgent };
}

/** The probe could not begin: the turn is still its key's. */
export function unprobed(state: LaneState, rows: readonly Delivery[]): LaneState {
  const own = new Set(rows.map(({ partitionKey }) => partitionKey));
  return { ...state, keys: mapped(state.keys, (each, key) => (own.has(key) ? { ...each, probed: null } : each)) };
}

/** Every key may be probed again; the same state if none was. */
export function newRound(state: LaneState): LaneState {
  if (![...state.keys.values()].some(({ probed }) => probed !== null)) return state;
  return { ...state, keys: mapped(state.keys, (each) => ({ ...each, probed: null })) };
}

/** Every failure of a key is forgotten, except of keys that are busy. */
export function forgotten(state: LaneState): LaneState {
  return { ...state, keys: without(state.keys, (key) => !state.busy.has(key)) };
}

/** The queue was read to its end: a key that could have gone and was not there has no rows. */
export function drained(state: LaneState, { elapsedMs }: Moment): LaneState {
  const keys = without(state.keys, (key, { dueMs }) => !state.busy.has(key) && dueMs <= elapsedMs);
  return keys === state.keys ? state : { ...state, keys };
}

function probedWithin(state: LaneState, ms: number, { elapsedMs, chance }: Moment): LaneState {
  if (!state.opening || state.opening.dueMs <= elapsedMs + ms) return state;
  return { ...state, opening: { ...state.opening, dueMs: elapsedMs + chance.sink * ms } };
}

function probedAgain(opening: Opening, { disposition = 'retry', retryWithinMs }: BridgeError, now: Moment): Opening {
  return due({ ...opening, failures: opening.failures + 1, disposition, withinMs: retryWithinMs }, now);
}

function due(opening: Opening, { elapsedMs, chance }: Moment): Opening {
  return { ...opening, dueMs: elapsedMs + backoffMs(opening, chance.sink) };
}
