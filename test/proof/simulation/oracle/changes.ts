// What one machine could read → the changes that it must publish, compared with those it did.
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import { differences, type ExpectedChange, type Json, type Observer, type Phase } from './expected-cloud-event.ts';
import type { Report } from './finding.ts';
import {
  type Epoch,
  emptyRowAfter,
  hasEnded,
  JUST_BEFORE_MS,
  type KnownState,
  missingNow,
  type Open,
  withMoments,
} from './known-state.ts';
import { contentText, hexOf, keyOf, type ListedEvent, type ReadDocument, readDocument } from './listed-event.ts';
import { type Answer, atLeast, atMost, exactly, type Moment, remembered } from './moment.ts';

/** What is wanted of one document. */
interface Wanted {
  readonly change: ExpectedChange;
  readonly must: Answer;
  readonly isVisible: boolean;
}

/** A CloudEvent that arrived, in the order of the first arrivals. */
export interface Told {
  readonly id: string;
  readonly atMs: number;
  readonly event: Json;
}

export interface ChangesParts {
  readonly settings: Settings;
  readonly observer: Observer;
  /** The four changes, by event, as they first arrived. */
  readonly told: ReadonlyMap<string, readonly Told[]>;
  /** Whether anybody or any rule may have approved the event here, so that it may have run unseen. */
  readonly mayBeApproved: (key: string) => boolean;
  readonly report: Report;
}

export class Changes {
  readonly #parts: ChangesParts;
  readonly #settleMs: number;
  readonly #staleMs: number;
  readonly #told: Map<string, Told[]>;
  readonly #used = new Map<string, number>();
  #state: KnownState = { incarnation: null, lastGood: null, epoch: null, empty: null, open: new Map() };
  #skewMs: number | null = null;
  #occurrences = 0;
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
    const { settle, pollInterval } = parts.settings.metadata;
    this.#settleMs = Number.parseInt(settle, 10) * 1000;
    // The time of the last document is written every other second, and at most once a poll.
    this.#staleMs = 2000 + Number.parseInt(pollInterval, 10) * 1000;
    this.#told = new Map([...parts.told].map(([key, list]) => [key, [...list]]));
  }

  /** The events that are open now, by key. */
  get open(): ReadonlyMap<string, { readonly event: ListedEvent; readonly occurrence: number }> {
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
    const { next, wanted } = this.#compare(document, atMs, wallMs);
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
    this.#settle(next, wanted, atMs);
  }

  #each(change: (state: KnownState) => KnownState): void {
    this.#state = change(this.#state);
    this.#alternative = this.#alternative && change(this.#alternative);
  }

  /** If a document may have counted that nobody saw, the first one that tells the two apart decides. */
  #chooseFor(document: ReadDocument, atMs: number, wallMs: number): void {
    const [state, alternative] = [this.#state, this.#alternative];
    if (alternative === null) return;
    const usual = this.#compare(document, atMs, wallMs);
    this.#state = alternative;
    const other = this.#compare(document, atMs, wallMs);
    this.#undecided.clear();
    const isUsual = this.#isTold(usual.wanted) || !this.#isTold(other.wanted);
    if (isUsual) this.#state = state;
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

  #settle(next: KnownState, wanted: readonly Wanted[], atMs: number): void {
    const open = new Map(next.open);
    for (const { change, must, isVisible } of wanted) {
      const key = keyOf(change.event.EventId);
      if (must === 'maybe' && !(isVisible ? this.#isNext(change) : false)) {
        const kept = this.#undecided.get(key);
        if (kept !== undefined) open.set(key, kept);
        continue;
      }
      this.#use(change.id);
      if (change.phase === 'ended') open.delete(key);
      if (isVisible) this.#match(key, change, atMs);
    }
    this.#undecided.clear();
    this.#epochMayStandMs = null;
    this.#state = { ...next, open };
    // From now on, a time in the future of the wall clock counts as this moment.
    if (!this.#hasRead)
      this.#state = withMoments(this.#state, ({ fromMs, toMs }) => ({ fromMs, toMs: Math.min(toMs, atMs) }));
    this.#hasRead = true;
  }

  /** Events that may have ended by the document that is compared now, as they are if they have not. */
  readonly #undecided = new Map<string, Open>();

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

  #compare(
    document: ReadDocument,
    atMs: number,
    wallMs: number,
  ): { readonly next: KnownState; readonly wanted: readonly Wanted[] } {
    const state = this.#state;
    const epoch = this.#epochOf(document, atMs);
    const incarnation = document.incarnation ?? state.incarnation;
    const empty = document.incarnation === null ? emptyRowAfter(state.empty, atMs) : null;
    const open = new Map(state.open);
    const wanted: Wanted[] = [];
    const batch = new Map<string, number>();
    const want = (
      phase: Phase,
      event: ListedEvent,
      before: ListedEvent | null,
      more: Partial<Wanted & ExpectedChange>,
    ) => {
      const { must = 'yes', isVisible = true, outcomes = [], withoutNotice = 'no' } = more;
      const change = {
        phase,
        id: this.#idOf(phase, event, batch),
        event,
        before,
        incarnation,
        wallMs,
        outcomes,
        withoutNotice,
      };
      wanted.push({ change, must, isVisible });
    };
    for (const event of document.events) {
      const key = keyOf(event.EventId);
      const known = state.open.get(key);
      const isOwn = known?.isOwn === true || this.#names(event);
      const occurrence = known?.occurrence ?? this.#occurrences++;
      open.set(key, { event, occurrence, epoch: epoch.number, lastListed: null, missing: null, isOwn });
      const isVisible = this.#parts.settings.publish.resources === 'all' || isOwn;
      if (known === undefined) {
        const isStarted = event.EventStatus === 'Started';
        const withoutNotice = isStarted && state.lastGood ? atMost(state.lastGood, atMs, JUST_BEFORE_MS) : 'no';
        want(isStarted ? 'started' : 'scheduled', event, null, { isVisible, withoutNotice });
      } else if (contentText(known.event) !== contentText(event)) {
        const hasStarted = known.event.EventStatus === 'Scheduled' && event.EventStatus === 'Started';
        want(hasStarted ? 'started' : 'updated', event, known.event, { isVisible });
      }
    }
    const listed = new Set(document.events.map(({ EventId }) => keyOf(EventId)));
    for (const [key, known] of state.open) {
      if (listed.has(key)) continue;
      const lastListed = known.lastListed ?? this.#state.lastGood;
      // It is listed, or may be: by an entry that cannot be read.
      if (document.statusless.has(key)) open.set(key, { ...known, lastListed, missing: null });
      else if (!document.isComplete) open.set(key, { ...known, lastListed });
      if (document.statusless.has(key) || !document.isComplete) continue;
      const gone = missingNow(known, epoch, this.#state.lastGood, atMs);
      const must = hasEnded(gone, { epoch, empty }, atMs, this.#settleMs);
      open.set(key, gone);
      if (must === 'no') continue;
      const isVisible = this.#parts.settings.publish.resources === 'all' || gone.isOwn;
      const outcomes = this.#outcomesOf(key, gone, epoch, empty !== null, wallMs);
      want('ended', gone.event, gone.event, { must, isVisible, outcomes });
      if (must === 'maybe') this.#undecided.set(key, gone);
    }
    return { next: { incarnation, lastGood: exactly(atMs), epoch, empty, open }, wanted };
  }

  #epochOf({ incarnation }: ReadDocument, atMs: number): Epoch {
    const { epoch, incarnation: before } = this.#state;
    const now = { fromMs: this.#epochMayStandMs ?? atMs, toMs: atMs };
    if (epoch === null) return { number: 1, begun: now, rowBegun: now };
    if (incarnation === null || before === null || incarnation >= before) return epoch;
    const hasSettled = atLeast(epoch.begun, atMs, this.#settleMs);
    const rowBegun =
      hasSettled === 'yes' ? now : hasSettled === 'no' ? epoch.rowBegun : { fromMs: epoch.rowBegun.fromMs, toMs: atMs };
    return { number: epoch.number + 1, begun: now, rowBegun };
  }

  #outcomesOf(key: string, gone: Open, epoch: Epoch, byEmpty: boolean, wallMs: number): readonly string[] {
    if (gone.epoch !== epoch.number) return ['unknown'];
    if (gone.event.EventStatus === 'Started') return ['completed'];
    const isBefore = gone.event.NotBefore !== '' && wallMs < Date.parse(gone.event.NotBefore);
    const wasScheduled = gone.missing?.wasScheduled ?? 'no';
    if (byEmpty || !isBefore || wasScheduled === 'no') return ['unknown'];
    return wasScheduled === 'maybe' || this.#parts.mayBeApproved(key) ? ['canceled', 'unknown'] : ['canceled'];
  }

  #names({ Resources }: ListedEvent): boolean {
    const own = this.#parts.observer.name.toLowerCase();
    return Resources.some((name) => name.toLowerCase() === own);
  }

  #idOf(phase: Phase, event: ListedEvent, batch: Map<string, number>): string {
    const base = `${keyOf(event.EventId)}:${phase}${phase === 'updated' ? `:${hexOf(contentText(event), 16)}` : ''}`;
    const before = (this.#used.get(base) ?? 0) + (batch.get(base) ?? 0);
    batch.set(base, (batch.get(base) ?? 0) + 1);
    return before === 0 ? base : `${base}:r${before + 1}`;
  }

  #use(id: string): void {
    const base = id.replace(/:r\d+$/, '');
    this.#used.set(base, (this.#used.get(base) ?? 0) + 1);
  }
}

function isDemanded({ must, isVisible }: Wanted): boolean {
  return must === 'yes' && isVisible;
}
