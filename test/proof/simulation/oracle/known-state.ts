// What one bridge knew, and a document → what it knows then; moments and counts may be uncertain.
import type { ListedEvent } from './listed-event.ts';
import { type Answer, atLeast, atMost, both, either, exactly, type Moment } from './moment.ts';

/** A good document of so long ago still shows what was listed just before. */
export const JUST_BEFORE_MS = 10_000;
const EMPTY_ANSWERS = 3;
const EMPTY_MS = 10_000;

/** An event that the bridge has told and not ended. */
export interface Open {
  readonly event: ListedEvent;
  /** Another number each time that it is first seen. */
  readonly occurrence: number;
  readonly epoch: number;
  /** The last good document that listed it, once one did not; null while listed. */
  readonly lastListed: Moment | null;
  readonly missing: { readonly since: Moment; readonly wasScheduled: Answer } | null;
  /** It named this VM at some time. */
  readonly isOwn: boolean;
}

export interface Epoch {
  readonly number: number;
  readonly begun: Moment;
  /** When the first of the epochs began that follow each other too quickly to settle. */
  readonly rowBegun: Moment;
}

/** Empty answers in a row. The first ones may not count: what cannot be stored is forgotten. */
export interface EmptyRow {
  readonly least: number;
  readonly most: number;
  readonly since: Moment;
}

export interface KnownState {
  readonly incarnation: number | null;
  readonly lastGood: Moment | null;
  readonly epoch: Epoch | null;
  readonly empty: EmptyRow | null;
  /** In the order in which they were first seen. */
  readonly open: ReadonlyMap<string, Open>;
}

/** The event as it is known once a document does not list it. */
export function missingNow(known: Open, epoch: Epoch, lastGood: Moment | null, atMs: number): Open {
  const lastListed = known.lastListed ?? lastGood;
  if (known.missing !== null) return { ...known, lastListed };
  const wasScheduled =
    known.event.EventStatus === 'Scheduled' && known.epoch === epoch.number && lastListed !== null
      ? atMost(lastListed, atMs, JUST_BEFORE_MS)
      : 'no';
  return { ...known, lastListed, missing: { since: exactly(atMs), wasScheduled } };
}

/** Whether an event that a document does not list has ended. */
export function hasEnded(
  gone: Open,
  { epoch, empty }: { readonly epoch: Epoch; readonly empty: EmptyRow | null },
  atMs: number,
  settleMs: number,
): Answer {
  const longMs = 3 * settleMs;
  const outlasted = both(
    atLeast(gone.missing?.since ?? exactly(atMs), atMs, longMs),
    atLeast(epoch.rowBegun, atMs, longMs),
  );
  const isProven = gone.epoch === epoch.number ? 'yes' : either(atLeast(epoch.begun, atMs, settleMs), outlasted);
  if (empty === null) return isProven;
  const isEnough = empty.least >= EMPTY_ANSWERS ? 'yes' : empty.most >= EMPTY_ANSWERS ? 'maybe' : 'no';
  return both(isProven, both(isEnough, atLeast(empty.since, atMs, EMPTY_MS)));
}

export function emptyRowAfter(row: EmptyRow | null, atMs: number): EmptyRow {
  if (row === null) return { least: 1, most: 1, since: exactly(atMs) };
  const since = row.least === 0 ? { ...row.since, toMs: atMs } : row.since;
  return { least: row.least + 1, most: row.most + 1, since };
}

/** @param staleMs for the times of documents, which are not stored each time */
export function withMoments(
  { lastGood, epoch, open, ...rest }: KnownState,
  change: (moment: Moment, staleMs?: number) => Moment,
  staleMs = 0,
): KnownState {
  const changed = ({ lastListed, missing, ...event }: Open): Open => ({
    ...event,
    lastListed: lastListed && change(lastListed, staleMs),
    missing: missing && { ...missing, since: change(missing.since) },
  });
  return {
    ...rest,
    lastGood: lastGood && change(lastGood, staleMs),
    epoch: epoch && { ...epoch, begun: change(epoch.begun), rowBegun: change(epoch.rowBegun) },
    open: new Map([...open].map(([key, each]) => [key, changed(each)])),
  };
}

/** Whether only the time of the last document and the row of empty answers may differ. */
export function isSameButForTimes(one: KnownState, other: KnownState): boolean {
  const [before, after] = [one, other].map((state) => textOf({ ...state, lastGood: null, empty: null }));
  return before === after;
}

export function distinctStates(states: readonly KnownState[]): readonly KnownState[] {
  return [...new Map(states.toReversed().map((state) => [textOf(state), state])).values()].toReversed();
}

function textOf(state: KnownState): string {
  const open = [...state.open].map(([key, each]) => [key, { ...each, occurrence: null }]);
  return JSON.stringify({ ...state, open });
}
