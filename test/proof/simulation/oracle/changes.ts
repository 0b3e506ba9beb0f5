// What one machine could read → the changes that it must publish, compared with those it did.
import type { Observation } from '../observation.ts';
import { type Compared, Comparison, type ComparisonParts, type Wanted } from './comparison.ts';
import { differences, type ExpectedChange, type Json } from './expected-cloud-event.ts';
import type { Report } from './finding.ts';
import { distinctStates, isSameButForTimes, type KnownState, type Open, withMoments } from './known-state.ts';
import { keyOf, type ReadDocument, readDocument } from './listed-event.ts';
import { type Answer, type Moment, remembered } from './moment.ts';

/** More are not followed: of documents that may or may not have counted, few come in a row. */
const MOST_OTHERS = 15;

/** A CloudEvent that arrived, in the order of the first arrivals. */
export interface Told {
  readonly id: string;
  readonly atMs: number;
  readonly event: Json;
}

export interface ChangesParts extends ComparisonParts {
  /** The four changes, by event, as they first arrived. */
  readonly told: ReadonlyMap<string, readonly Told[]>;
  readonly report: Report;
}

export class Changes {
  readonly #parts: ChangesParts;
  readonly #comparison: Comparison;
  readonly #staleMs: number;
  readonly #told: Map<string, Told[]>;
  #state: KnownState = { incarnation: null, lastGood: null, epoch: null, empty: null, open: new Map() };
  #skewMs: number | null = null;
  #storedSkewMs = 0;
  /** What the bridge may know instead, if some documents may have counted. Each state explains what was told so far. */
  #others: readonly KnownState[] = [];
  /** A document has counted in this process. */
  #hasRead = false;
  /** Since when an epoch may stand that only documents have begun that may not have counted; null if there is none. */
  #epochMayStandMs: number | null = null;
  /** All that the clock was ever set back. */
  #setBackMs = 0;
  /** Until when a stored time may count that is in the future of a clock that was set back. */
  #pinnedMs = 0;

  constructor(parts: ChangesParts) {
    this.#parts = parts;
    this.#comparison = new Comparison(parts);
    // The time of the last document is written every other second, and at most once a poll.
    this.#staleMs = 2000 + Number.parseInt(parts.settings.metadata.pollInterval, 10) * 1000;
    this.#told = new Map([...parts.told].map(([key, list]) => [key, [...list]]));
  }

  /** The events that are open now, by key. */
  get open(): ReadonlyMap<string, Open> {
    return this.#state.open;
  }

  /** A process begins on what is stored. @param skewMs how far its wall clock is off now */
  begun(skewMs: number, atMs: number): void {
    this.#hasRead = false;
    const shiftMs = this.#skewMs === null ? 0 : this.#storedSkewMs - skewMs;
    this.#skewMs = skewMs;
    this.#storedSkewMs = skewMs;
    this.#pinnedMs = atMs;
    const back = (moment: Moment, staleMs = 0) => {
      const { fromMs, toMs } = remembered(moment, shiftMs, staleMs);
      // A stored time that is in the future of a clock that was set back counts as now, at each first document.
      return { fromMs, toMs: Math.max(toMs, Math.min(atMs, toMs + this.#setBackMs)) };
    };
    this.#each((state) => ({ ...withMoments(state, back, this.#staleMs), empty: null }));
  }

  jumped(skewMs: number): void {
    // What is stored keeps the time of before, whatever the clock says later: both readings are possible.
    this.#storedSkewMs = this.#skewMs ?? skewMs;
    const backMs = this.#storedSkewMs - skewMs;
    this.#setBackMs += Math.max(0, backMs);
    this.#skewMs = skewMs;
    // Until the first document counts, the age of what an earlier process stored is told by the wall clock alone.
    if (this.#hasRead) return;
    const moved = ({ fromMs, toMs }: Moment) => ({
      fromMs: fromMs + Math.min(0, backMs),
      toMs: toMs + Math.max(0, backMs),
    });
    this.#each((state) => withMoments(state, moved));
  }

  /** @param counts whether the process stored what follows from this document */
  read({ text, atMs, wallMs }: Extract<Observation, { readonly kind: 'document' }>, counts: Answer): void {
    if (text === null) {
      this.#each((state) => ({ ...state, empty: null }));
      return;
    }
    const document = readDocument(text);
    if (!this.#hasRead && this.#setBackMs > 0) this.#pin(atMs);
    const possible = [this.#state, ...this.#others].map((state) => ({
      state,
      ...this.#comparison.compare(state, document, { atMs, wallMs }, this.#epochMayStandMs),
    }));
    const hasCounted = counts === 'yes' || (counts === 'maybe' && possible.some((each) => this.#toldNow(each) > 0));
    if (hasCounted) this.#settle(possible, atMs);
    else this.#keepBoth(possible, document, counts === 'maybe', atMs);
  }

  #pin(atMs: number): void {
    const pinnedMs = this.#pinnedMs;
    this.#pinnedMs = atMs;
    this.#each((state) =>
      withMoments(state, ({ fromMs, toMs }) => ({ fromMs, toMs: toMs === pinnedMs ? atMs : toMs })),
    );
  }

  #each(change: (state: KnownState) => KnownState): void {
    this.#state = change(this.#state);
    this.#others = this.#others.map(change);
  }

  /** Nothing that was told shows that this document counted. */
  #keepBoth(possible: readonly Possible[], document: ReadDocument, mayCount: boolean, atMs: number): void {
    const states = possible.flatMap(({ state, next, wanted }) => {
      const lastGood = { fromMs: state.lastGood?.fromMs ?? atMs, toMs: atMs };
      const must = wanted.some(isDemanded);
      if (!must && isSameButForTimes(state, next))
        return [{ ...next, lastGood, empty: next.empty && { ...next.empty, least: 0 } }];
      // Also a document that cannot be stored ends a row of empty answers.
      const before = { ...state, lastGood, empty: document.incarnation === null ? state.empty : null };
      if (must || !mayCount) return [before];
      if (next.epoch?.number !== state.epoch?.number) this.#epochMayStandMs ??= atMs;
      return [before, next];
    });
    this.#know(states);
  }

  #know(states: readonly KnownState[]): void {
    const [state = this.#state, ...others] = distinctStates(states);
    this.#state = state;
    this.#others = others.slice(0, MOST_OTHERS);
  }

  /** Whether all that must follow, and all that may follow and was told next, was told in every attribute. */
  #isTold(wanted: readonly Wanted[]): boolean {
    return wanted.every(({ change, must, isVisible }) => {
      if (!isVisible || (must === 'maybe' && !this.#isNext(change))) return true;
      const head = this.#told.get(keyOf(change.event.EventId))?.[0];
      return head?.id === change.id && differences(head.event, change, this.#parts.observer).length === 0;
    });
  }

  /** How much of this was told, and follows from this document and no other. */
  #toldNow({ wanted }: Compared): number {
    return wanted.filter(({ change, isVisible }) => isVisible && this.#isNext(change)).length;
  }

  /** Everything is over: what was told and not wanted was invented, and what is open was never ended. */
  end(atMs: number): void {
    const { open } = [this.#state, ...this.#others].find((state) => state.open.size === 0) ?? this.#state;
    for (const [key, { event }] of open)
      this.#parts.report('lost', atMs, `${key} is ${event.EventStatus} at the end, and was never ended`);
    for (const [key, left] of this.#told)
      for (const { id, atMs: toldMs } of left)
        this.#parts.report('invented', toldMs, `${id} of ${key} follows from no document`);
  }

  /** The document has counted: only the states that explain most of what was told now stay possible. */
  #settle(possible: readonly Possible[], atMs: number): void {
    const explaining = possible.filter(({ wanted }) => this.#isTold(wanted));
    const most = Math.max(...explaining.map((each) => this.#toldNow(each)));
    const [best = possible[0], ...others] = explaining.filter((each) => this.#toldNow(each) === most);
    if (best === undefined) return;
    const happened = this.#happenedOf(best);
    const isAlike = (other: Compared) => {
      const changes = this.#happenedOf(other);
      return (
        changes.length === happened.length && changes.every(({ change }, n) => change.id === happened[n]?.change.id)
      );
    };
    const states = [best, ...others.filter(isAlike)].map((each) => this.#after(each));
    for (const { change, isVisible } of happened) {
      this.#comparison.use(change.id);
      if (isVisible) this.#match(keyOf(change.event.EventId), change, atMs);
    }
    this.#epochMayStandMs = null;
    this.#know(states);
    // From now on, a time in the future of the wall clock counts as this moment.
    if (!this.#hasRead)
      this.#each((state) => withMoments(state, ({ fromMs, toMs }) => ({ fromMs, toMs: Math.min(toMs, atMs) })));
    this.#hasRead = true;
  }

  /** All that must follow, and what may follow and was told next. */
  #happenedOf({ wanted }: Compared): readonly Wanted[] {
    return wanted.filter(({ change, must, isVisible }) => must !== 'maybe' || (isVisible && this.#isNext(change)));
  }

  #after(compared: Compared): KnownState {
    const open = new Map(compared.next.open);
    for (const [key, kept] of compared.undecided) open.set(key, kept);
    for (const { change } of this.#happenedOf(compared))
      if (change.phase === 'ended') open.delete(keyOf(change.event.EventId));
    return { ...compared.next, open };
  }

  /** Two processes may read two documents in one moment, so the time alone does not tell which one it follows from. */
  #isNext(change: ExpectedChange): boolean {
    const head = this.#told.get(keyOf(change.event.EventId))?.[0];
    if (head?.id !== change.id || head.event['time'] !== new Date(change.wallMs).toISOString()) return false;
    const { observer } = head.event['data'] as { readonly observer: Json };
    return observer['documentIncarnation'] === change.incarnation;
  }

  #match(key: string, change: ExpectedChange, atMs: number): void {
    const { report, observer } = this.#parts;
    const told = this.#told.get(key) ?? [];
    const place = told.findIndex(({ id }) => id === change.id);
    const found = told[place];
    if (found === undefined) {
      report('lost', atMs, `${change.id} was never told`);
      return;
    }
    if (place > 0) report('misordered', atMs, `${change.id} came after ${told[0]?.id}`);
    told.splice(place, 1);
    for (const difference of differences(found.event, change, observer))
      report('altered', found.atMs, `${change.id}: ${difference}`);
  }
}

/** A state that is possible, and what follows if the document counts. */
interface Possible extends Compared {
  readonly state: KnownState;
}

function isDemanded({ must, isVisible }: Wanted): boolean {
  return must === 'yes' && isVisible;
}
