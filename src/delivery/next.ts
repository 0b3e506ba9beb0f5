// A lane's state, the moment and the queue → send, probe, expire, or wait until. Pure.
import type { Delivery, SinkState } from '../model/deliveries.ts';
import { planBatches } from './batch.ts';
import {
  drained,
  forgotten,
  type LaneState,
  MOST_FAILING_KEYS,
  newRound,
  occupied,
  probing,
  urgentQueued,
} from './lane-state.ts';
import type { Moment } from './moment.ts';

/*
 * The states of a lane. The first row that applies counts, except that `misconfigured` is shown before `held`,
 * `probing` and `backing off`.
 *
 * | state                      | shown as               | what may go                                       | until                                   |
 * | -------------------------- | ---------------------- | ------------------------------------------------- | --------------------------------------- |
 * | paused                     | paused                 | nothing; nothing expires                          | an operator resumes it                  |
 * | retired                    | retired                | nothing; rows past maxAge become dead letters     | resume, or another configuration        |
 * | Retry-After                | held                   | nothing                                           | `heldUntilMs`, at most 1 h              |
 * | breaker open, not due      | probing                | nothing; urgent rows bring the probe within 2 s   | `opening.dueMs`                         |
 * | outcomes wait for the disk | as below               | nothing                                           | they are stored                         |
 * | breaker open, rate used up | probing                | nothing                                           | the rate has room                       |
 * | breaker open, a call runs  | probing                | nothing                                           | the call ends                           |
 * | breaker open, due          | probing                | one row: urgent, else of the key that failed least | it ends: accepted closes the breaker   |
 * | not prepared               | as below               | one call, which prepares first                    | it ends                                 |
 * | rate used up               | held                   | nothing                                           | the rate has room; the most urgent next |
 * | every place taken          | as below               | urgent rows, in the sink's extra places           | a call ends, or an event becomes urgent |
 * | keys back off              | backing off            | urgent rows, then all rows of other keys          | the first of these keys is due          |
 * | none of these              | delivering             | urgent rows, then all rows of keys in no call     | rows are queued                         |
 */

/** Rows are read in blocks of at most so many, or of one batch. */
const MOST_FETCHED = 256;
/** So many queued rows are looked at to find how urgent the next probe is. */
const SAMPLE = 100;

/** Rows wait although nothing is wrong: the rate is used up. */
export interface Hold {
  readonly reason: string;
  /** Elapsed time; null if a running request has to end first. */
  readonly untilMs: number | null;
}

/**
 * What is asked of a sink's queue, its limits and its rate. The same question has the same answer until rows are sent
 * or queued.
 */
export interface QueueView {
  /** Of one call. */
  readonly limits: { readonly batch: number; readonly batchBytes: number };
  /** Too many outcomes wait to be stored. */
  isFull(): boolean;
  /** How many calls may begin in addition to `running` ones. */
  places(running: number): number;
  /** The same for urgent rows. */
  urgentPlaces(running: number): number;
  /**
   * Rows of keys not named in `except`, the oldest first; the most urgent first if the rate is short.
   * @throws BridgeError BRIDGE_STORE_*
   */
  rows(except: readonly string[], limit: number): readonly Delivery[];
  /**
   * Rows of urgent events, the most urgent first. `except` is called only if there may be some.
   * @throws BridgeError BRIDGE_STORE_*
   */
  urgentRows(except: () => readonly string[], limit: number): readonly Delivery[];
  /**
   * Null if rows of keys not named in `except` do not wait for the rate alone. `except` is called only if it is used
   * up.
   * @throws BridgeError BRIDGE_STORE_*
   */
  hold(except: () => readonly string[]): Hold | null;
  /** When (elapsed time) to look whether an event has become urgent; null if none will. */
  nextUrgentMs(): number | null;
  isLongEnded(row: Delivery, now: Moment): boolean;
  /** Keys that lanes of earlier configurations have in a call. */
  heldKeys(): ReadonlySet<string>;
}

/** What to do, and the state once it is done. After `send` and `probe` it is asked again. */
type Next =
  | { readonly kind: 'send'; readonly state: LaneState; readonly batches: readonly (readonly Delivery[])[] }
  | { readonly kind: 'probe'; readonly state: LaneState; readonly batches: readonly (readonly Delivery[])[] }
  | { readonly kind: 'expire'; readonly state: LaneState }
  /**
   * Elapsed time; null: until a call ends, rows are queued or an operator acts. `hold` is absent if the rate was not
   * asked.
   */
  | { readonly kind: 'wait'; readonly state: LaneState; readonly untilMs: number | null; readonly hold?: Hold | null };

/** @throws BridgeError BRIDGE_STORE_* */
export function next(state: LaneState, now: Moment, queue: QueueView): Next {
  if (state.pause) return { kind: 'wait', state, untilMs: null };
  if (state.retired) return { kind: 'expire', state };
  const isHurried = state.opening !== null && queue.urgentRows(() => [...state.busy], 1).length > 0;
  const current = isHurried ? urgentQueued(state, now) : state;
  const blockedUntilMs = Math.max(current.heldUntilMs, current.opening?.dueMs ?? 0);
  if (now.elapsedMs < blockedUntilMs) return { kind: 'wait', state: current, untilMs: blockedUntilMs };
  if (queue.isFull()) return { kind: 'wait', state: current, untilMs: null };
  return current.opening ? probe(current, now, queue) : send(current, now, queue);
}

/** How an operator sees the lane. @param hold from the last `wait` */
export function shown(
  state: LaneState,
  elapsedMs: number,
  hold: Hold | null,
): { state: SinkState; reason: string | null; untilMs: number | null } {
  const { pause, retired, heldUntilMs, lastFailure: reason } = state;
  if (pause) return { state: 'paused', reason: `paused by ${pause.by}`, untilMs: null };
  if (retired) return { state: 'retired', reason: retired.reason, untilMs: null };
  if (state.isMisconfigured) return { state: 'misconfigured', reason, untilMs: null };
  if (elapsedMs < heldUntilMs) return { state: 'held', reason, untilMs: heldUntilMs };
  if (state.opening) return { state: 'probing', reason, untilMs: null };
  if (hold !== null) return { state: 'held', ...hold };
  for (const { failures } of state.keys.values())
    if (failures > 0) return { state: 'backing off', reason, untilMs: null };
  return { state: 'delivering', reason: null, untilMs: null };
}

/** Keys of which no row may go now: in a call, or backing off. */
export function blockedKeys(
  { busy, keys }: LaneState,
  elapsedMs: number,
  heldKeys: ReadonlySet<string>,
): readonly string[] {
  return namesOf(busy, keys, heldKeys, ({ dueMs }) => dueMs > elapsedMs);
}

function send(state: LaneState, now: Moment, queue: QueueView): Next {
  const batch = Math.min(queue.limits.batch, state.largestBatch);
  const blocked = () => blockedKeys(state, now.elapsedMs, queue.heldKeys());
  const urgentPlaces = queue.urgentPlaces(state.calls);
  // In batches of their own, so that no refusal of another member delays them.
  const urgent = urgentPlaces > 0 ? queue.urgentRows(blocked, mostRows(urgentPlaces, batch)) : [];
  if (urgent.length > 0) return sending(state, urgent, { places: urgentPlaces, batch }, queue);
  const places = queue.places(state.calls);
  if (places <= 0) return waiting(state, blocked, now, queue);
  const limit = mostRows(places, batch);
  const except = blocked();
  const rows = queue.rows(except, limit);
  // All that was queued is on its way: whatever a batch was refused for is found or gone.
  const all = rows.length < limit ? { ...state, largestBatch: Number.POSITIVE_INFINITY } : state;
  if (rows.length > 0) return sending(all, rows, { places, batch }, queue);
  return waiting(drained(all, now), () => except, now, queue);
}

function sending(
  state: LaneState,
  rows: readonly Delivery[],
  { places, batch }: { places: number; batch: number },
  queue: QueueView,
): Next {
  const isAlone = (key: string) => state.keys.get(key)?.isCause ?? false;
  const batches = planBatches(rows, { batch, batchBytes: queue.limits.batchBytes, isAlone }, places);
  return { kind: 'send', state: { ...occupied(state, batches.flat()), calls: state.calls + batches.length }, batches };
}

function waiting(state: LaneState, blocked: () => readonly string[], now: Moment, queue: QueueView): Next {
  const hold = queue.hold(blocked);
  const urgentMs = queue.places(state.calls) > 0 ? null : queue.nextUrgentMs();
  const times = [nextDueMs(state, now), hold?.untilMs ?? null, urgentMs].filter((time) => time !== null);
  return { kind: 'wait', state, untilMs: times.length === 0 ? null : Math.min(...times), hold };
}

/** When the next key that backs off may go; null if none does. */
function nextDueMs({ busy, keys }: LaneState, { elapsedMs }: Moment): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const [key, { dueMs }] of keys) if (dueMs > elapsedMs && dueMs < next && !busy.has(key)) next = dueMs;
  return Number.isFinite(next) ? next : null;
}

/**
 * Of each key in turn, so that one that the sink refuses does not hide that it accepts others; those that failed least
 * come first, so that they do not wait behind keys that fail.
 */
function probe(before: LaneState, now: Moment, queue: QueueView): Next {
  const hold = queue.hold(() => []);
  if (hold) return { kind: 'wait', state: before, untilMs: hold.untilMs };
  if (before.calls > 0) return { kind: 'wait', state: before, untilMs: null };
  const state = before.keys.size >= MOST_FAILING_KEYS ? forgotten(before) : before;
  const urgent = urgentProbe(state, now, queue);
  if (urgent) return sendingProbe(state, urgent, { isUrgent: true, isAlive: true, longEnded: false });
  const round = untried(state, queue);
  const row = leastTroubled(round.state, round.rows, queue);
  if (!row) return { kind: 'wait', state: forgotten(round.state), untilMs: null };
  const isAlive = (each: Delivery) => !queue.isLongEnded(each, now);
  const wasAnyAlive = [...round.state.keys.values()].some(({ probed }) => probed === 'alive');
  const isAnyAlive = round.rows.length === SAMPLE || wasAnyAlive || round.rows.some(isAlive);
  return sendingProbe(round.state, row, { isUrgent: false, isAlive: isAlive(row), longEnded: !isAnyAlive });
}

function sendingProbe(state: LaneState, row: Delivery, turn: Parameters<typeof probing>[2]): Next {
  const probed = probing(occupied(state, [row]), row, turn);
  return { kind: 'probe', state: { ...probed, calls: state.calls + 1 }, batches: [[row]] };
}

/**
 * One that has not had its turn comes before everything else. One that has, and whose own back-off has passed, is every
 * other probe at most: it must not hide that the sink accepts others.
 */
function urgentProbe(state: LaneState, now: Moment, queue: QueueView): Delivery | undefined {
  const [first] = queue.urgentRows(() => triedKeys(state, queue), 1);
  if (first || state.wasProbeUrgent) return first;
  return queue.urgentRows(() => blockedKeys(state, now.elapsedMs, queue.heldKeys()), 1)[0];
}

/** Rows of keys that had no turn as a probe; a new round begins when all had one. */
function untried(
  state: LaneState,
  queue: QueueView,
): { readonly state: LaneState; readonly rows: readonly Delivery[] } {
  const rows = queue.rows(triedKeys(state, queue), SAMPLE);
  const again = rows.length === 0 ? newRound(state) : state;
  return again === state ? { state, rows } : { state: again, rows: queue.rows(triedKeys(again, queue), SAMPLE) };
}

/**
 * The first row of the key that failed least often in a row: among these rows, or one of a key that never failed behind
 * them.
 */
function leastTroubled({ busy, keys }: LaneState, rows: readonly Delivery[], queue: QueueView): Delivery | undefined {
  const failuresOf = ({ partitionKey }: Delivery) => keys.get(partitionKey)?.failures ?? 0;
  const least = Math.min(...rows.map(failuresOf));
  const troubled = () =>
    namesOf(busy, keys, queue.heldKeys(), ({ failures, probed }) => failures > 0 || probed !== null);
  const behind = least > 0 && rows.length === SAMPLE ? queue.rows(troubled(), 1)[0] : undefined;
  return behind ?? rows.find((row) => failuresOf(row) === least);
}

function triedKeys({ busy, keys }: LaneState, queue: QueueView): readonly string[] {
  return namesOf(busy, keys, queue.heldKeys(), ({ probed }) => probed !== null);
}

function namesOf(
  busy: LaneState['busy'],
  keys: LaneState['keys'],
  heldKeys: ReadonlySet<string>,
  isNamed: (state: LaneState['keys'] extends ReadonlyMap<string, infer Key> ? Key : never) => boolean,
): readonly string[] {
  const names = [...busy, ...heldKeys];
  for (const [key, state] of keys) if (isNamed(state) && !busy.has(key)) names.push(key);
  return names;
}

function mostRows(places: number, batch: number): number {
  return Math.min(places * batch, Math.max(batch, MOST_FETCHED));
}
