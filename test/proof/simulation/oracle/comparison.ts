// A document and the known state → the state after it, and the changes that must or may follow.
import type { Settings } from '../history.ts';
import type { ExpectedChange, Observer, Phase } from './expected-cloud-event.ts';
import type { At } from './grounds.ts';
import {
  type Epoch,
  emptyRowAfter,
  hasEnded,
  JUST_BEFORE_MS,
  type KnownState,
  missingNow,
  type Open,
} from './known-state.ts';
import { contentText, hexOf, keyOf, type ListedEvent, type ReadDocument } from './listed-event.ts';
import { type Answer, atLeast, atMost, exactly, type Moment } from './moment.ts';

/** What is wanted of one document. */
export interface Wanted {
  readonly change: ExpectedChange;
  readonly must: Answer;
  readonly isVisible: boolean;
}

export interface Compared {
  readonly next: KnownState;
  readonly wanted: readonly Wanted[];
  /** Events that may have ended by this document, as they are if they have not. */
  readonly undecided: ReadonlyMap<string, Open>;
}

export interface ComparisonParts {
  readonly settings: Settings;
  readonly observer: Observer;
  /** Whether anybody or any rule may have approved the event here, so that it may have run unseen. */
  readonly mayBeApproved: (key: string) => boolean;
}

export class Comparison {
  readonly #parts: ComparisonParts;
  readonly #settleMs: number;
  /** How often each id was used, without its number. */
  readonly #used = new Map<string, number>();
  #occurrences = 0;

  constructor(parts: ComparisonParts) {
    this.#parts = parts;
    this.#settleMs = Number.parseInt(parts.settings.metadata.settle, 10) * 1000;
  }

  /** The change with this id was published. */
  use(id: string): void {
    const base = id.replace(/:r\d+$/, '');
    this.#used.set(base, (this.#used.get(base) ?? 0) + 1);
  }

  /** @param epochMayStandMs since when an epoch may stand that only documents have begun that may not have counted */
  compare(state: KnownState, document: ReadDocument, at: At, epochMayStandMs: number | null): Compared {
    const { atMs, wallMs } = at;
    const epoch = this.#epochOf(state, document, { fromMs: epochMayStandMs ?? atMs, toMs: atMs });
    const undecided = new Map<string, Open>();
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
      const lastListed = known.lastListed ?? state.lastGood;
      // It is listed, or may be: by an entry that cannot be read.
      if (document.statusless.has(key)) open.set(key, { ...known, lastListed, missing: null });
      else if (!document.isComplete) open.set(key, { ...known, lastListed });
      if (document.statusless.has(key) || !document.isComplete) continue;
      const gone = missingNow(known, epoch, state.lastGood, atMs);
      const must = hasEnded(gone, { epoch, empty }, atMs, this.#settleMs);
      open.set(key, gone);
      if (must === 'no') continue;
      const isVisible = this.#parts.settings.publish.resources === 'all' || gone.isOwn;
      const outcomes = this.#outcomesOf(key, gone, epoch, empty !== null, wallMs);
      want('ended', gone.event, gone.event, { must, isVisible, outcomes });
      if (must === 'maybe') undecided.set(key, gone);
    }
    return { next: { incarnation, lastGood: exactly(atMs), epoch, empty, open }, wanted, undecided };
  }

  #epochOf({ epoch, incarnation: before }: KnownState, { incarnation }: ReadDocument, now: Moment): Epoch {
    if (epoch === null) return { number: 1, begun: now, rowBegun: now };
    if (incarnation === null || before === null || incarnation >= before) return epoch;
    const hasSettled = atLeast(epoch.begun, now.toMs, this.#settleMs);
    const rowBegun =
      hasSettled === 'yes'
        ? now
        : hasSettled === 'no'
          ? epoch.rowBegun
          : { fromMs: epoch.rowBegun.fromMs, toMs: now.toMs };
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
}
