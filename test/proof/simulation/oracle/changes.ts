// What one machine could read → the changes that it must publish, compared with those it did.
import type { Observation } from '../observation.ts';
import { type Compared, Comparison, type ComparisonParts, type Wanted } from './comparison.ts';
import { differences, type ExpectedChange, type Json } from './expected-cloud-event.ts';
import type { Report } from './finding.ts';
import { type KnownState, type Open, withMoments } from './known-state.ts';
import { keyOf, type ReadDocument, readDocument } from './listed-event.ts';
import { type Moment, remembered } from './moment.ts';

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
  /** The state if a document counted that may not have; null if there is no doubt. */
  #alternative: KnownState | null = null;
  /** A document has counted in this process. */
  #hasRead = false;
  /** Since when an epoch may stand that only documents have begun that may not have counted; null if there is none. */
  #epochMayStandMs: number | null = null;
  /** All that the clock was ever set back. */
  #setBackMs = 0;

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
    const back = (moment: Moment, staleMs = 0) => {
      const { fromMs, toMs } = remembered(moment, shiftMs, staleMs);
      // A stored time that is in the future of a clock that was set back counts as now, at each start.
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

  /** @param isSure false if the process may have ended, or failed to store, before this document counted */
  read({ text, atMs, wallMs }: Extract<Observation, { readonly kind: 'document' }>, isSure: boolean): void {
    if (text === null) {
      this.#each((state) => ({ ...state, empty: null }));
      return;
    }
    const document = readDocument(text);
    this.#chooseFor(document, atMs, wallMs);
    const compared = this.#comparison.compare(this.#state, document, { atMs, wallMs }, this.#epochMayStandMs);
    const { next, wanted } = compared;
    const must = wanted.filter(isDemanded);
    if (!isSure && !must.some(({ change }) => this.#isNext(change))) {
      const { lastGood } = this.#state;
      this.#state = { ...this.#state, lastGood: { fromMs: lastGood?.fromMs ?? atMs, toMs: atMs } };
      if (next.epoch?.number !== this.#state.epoch?.number) this.#epochMayStandMs ??= atMs;
      if (must.length === 0 && this.#isNews(next)) this.#alternative ??= next;
      if (must.length > 0 || this.#isNews(next)) return;
      this.#state = { ...next, lastGood: this.#state.lastGood, empty: next.empty && { ...next.empty, least: 0 } };
      return;
    }
    this.#settle(compared, atMs);
  }

  #each(change: (state: KnownState) => KnownState): void {
    this.#state = change(this.#state);
    this.#alternative = this.#alternative && change(this.#alternative);
  }

  /** If a document may have counted that nobody saw, the first one that tells the two apart decides. */
  #chooseFor(document: ReadDocument, atMs: number, wallMs: number): void {
    const [state, alternative] = [this.#state, this.#alternative];
    if (alternative === null) return;
    const compared = (each: KnownState) =>
      this.#comparison.compare(each, document, { atMs, wallMs }, this.#epochMayStandMs);
    const [usual, other] = [compared(state), compared(alternative)];
    const isUsual = this.#isTold(usual.wanted) || !this.#isTold(other.wanted);
    if (!isUsual) this.#state = alternative;
    const isOpen = !usual.wanted.some(isDemanded) && !other.wanted.some(isDemanded);
    this.#alternative = isOpen ? other.next : null;
  }

  /** Whether all that must follow, and all that may follow and was told next, was told in every attribute. */
  #isTold(wanted: readonly Wanted[]): boolean {
    return wanted.every(({ change, must, isVisible }) => {
      if (!isVisible || (must === 'maybe' && !this.#isNext(change))) return true;
      const head = this.#told.get(keyOf(change.event.EventId))?.[0];
      return head?.id === change.id && differences(head.event, change, this.#parts.observer).length === 0;
    });
  }

  /** Everything is over: what was told and not wanted was invented, and what is open was never ended. */
  end(atMs: number): void {
    for (const [key, open] of this.#state.open)
      this.#parts.report('lost', atMs, `${key} is ${open.event.EventStatus} at the end, and was never ended`);
    for (const [key, left] of this.#told)
      for (const { id, atMs: toldMs } of left)
        this.#parts.report('invented', toldMs, `${id} of ${key} follows from no document`);
  }

  /** What an epoch or an incarnation of its own makes: it is stored even if nothing is told. */
  #isNews(next: KnownState): boolean {
    return next.epoch?.number !== this.#state.epoch?.number || next.incarnation !== this.#state.incarnation;
  }

  #settle({ next, wanted, undecided }: Compared, atMs: number): void {
    const open = new Map(next.open);
    for (const { change, must, isVisible } of wanted) {
      const key = keyOf(change.event.EventId);
      if (must === 'maybe' && !(isVisible ? this.#isNext(change) : false)) {
        const kept = undecided.get(key);
        if (kept !== undefined) open.set(key, kept);
        continue;
      }
      this.#comparison.use(change.id);
      if (change.phase === 'ended') open.delete(key);
      if (isVisible) this.#match(key, change, atMs);
    }
    this.#epochMayStandMs = null;
    this.#state = { ...next, open };
    // From now on, a time in the future of the wall clock counts as this moment.
    if (!this.#hasRead)
      this.#state = withMoments(this.#state, ({ fromMs, toMs }) => ({ fromMs, toMs: Math.min(toMs, atMs) }));
    this.#hasRead = true;
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

function isDemanded({ must, isVisible }: Wanted): boolean {
  return must === 'yes' && isVisible;
}
