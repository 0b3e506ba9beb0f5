// The known state and a good document → the next state and its changes (behaviour 4). Pure.
import type {
  DocumentEvent,
  EndOutcome,
  Epoch,
  EventChange,
  EventField,
  Instant,
  KnownEvent,
  KnownState,
  Phase,
  ScheduledEvent,
  ScheduledEventsDocument,
} from '../model/events.ts';
import { eventChangeId, isDrill, unusedId } from '../model/ids.ts';
import { changedFields, contentNow, isIdentical } from './compare.ts';
import { emptyRowAfter, epochOf, hasOutlasted, hasSettled, isConvincing, pinned } from './epoch.ts';
import { isJustBefore, missingSince, outcomeOf } from './outcome.ts';

export interface DiffSettings {
  /** Whether the state certainly belongs to this VM; if not, missing events are recorded, but do not end. */
  readonly isOurs: boolean;
  /** `metadata.settle`: how long a missing event does not count as ended in a new epoch. */
  readonly settleMs: number;
  /** Whether this bridge has used a CloudEvent id before, for any change. */
  readonly isUsed: (id: string) => boolean;
  readonly isApproved: (key: string, occurrence: number) => boolean;
}

interface Difference {
  readonly state: KnownState;
  /**
   * First the changes of listed events in the order of the document, then ended events in the order in which they were
   * first seen.
   */
  readonly changes: readonly EventChange[];
  /** Whether a change must be stored durably; if not, only `lastGoodAt` and the row of empty answers changed. */
  readonly news: boolean;
}

/**
 * Compares a good document, read at `at`, with the known state. Modifies neither: the caller replaces its state once
 * the difference is stored.
 */
export function diff(
  state: KnownState,
  document: ScheduledEventsDocument,
  at: Instant,
  settings: DiffSettings,
): Difference {
  const comparison = new Comparison(state, document, at, settings);
  comparison.compareListed();
  comparison.compareMissing();
  return comparison.result();
}

/** The comparison of one document, for one call of `diff`. */
class Comparison {
  readonly #state: KnownState;
  readonly #document: ScheduledEventsDocument;
  readonly #at: Instant;
  readonly #settings: DiffSettings;
  readonly #epoch: Epoch;
  readonly #emptyRow: KnownState['emptyRow'];
  readonly #events: Map<string, KnownEvent>;
  readonly #changes: EventChange[] = [];
  readonly #usedIds = new Set<string>();
  #nextOccurrence: number;

  constructor(state: KnownState, document: ScheduledEventsDocument, at: Instant, settings: DiffSettings) {
    this.#state = state;
    this.#document = document;
    this.#at = at;
    this.#settings = settings;
    this.#epoch = epochOf(state, document, at, settings.settleMs);
    this.#emptyRow = emptyRowAfter(state.emptyRow, document, at);
    this.#events = new Map(state.events);
    this.#nextOccurrence = state.nextOccurrence;
  }

  compareListed(): void {
    for (const listed of this.#document.events) {
      const key = listed.eventId.toLowerCase();
      const known = this.#events.get(key);
      if (known === undefined) this.#add(key, contentNow(listed, undefined));
      else this.#compare(known, listed);
    }
  }

  compareMissing(): void {
    const listed = new Set(this.#document.events.map((event) => event.eventId.toLowerCase()));
    const statusless = new Set(this.#document.statusless);
    for (const known of this.#state.events.values()) {
      // The service does not list drills.
      if (listed.has(known.key) || isDrill(known.key)) continue;
      const unlisted = this.#unlisted(known);
      if (statusless.has(known.key)) this.#keep(unlisted.missing === null ? unlisted : { ...unlisted, missing: null });
      // An entry without a usable EventId may be this event, so the document does not prove that the event is missing.
      else if (!this.#document.complete) this.#keep(unlisted);
      else this.#miss(unlisted);
    }
  }

  result(): Difference {
    const state: KnownState = {
      incarnation: this.#incarnation,
      apiVersion: this.#document.apiVersion,
      lastGoodAt: this.#at,
      epoch: this.#epoch,
      emptyRow: this.#emptyRow,
      events: this.#events,
      nextOccurrence: this.#nextOccurrence,
    };
    const whole = [...this.#events.values()].every((known) => known.listed);
    return {
      state: whole ? { ...state, document: this.#document } : state,
      changes: this.#changes,
      news: this.#isNews(state),
    };
  }

  get #incarnation(): number | null {
    return this.#document.incarnation ?? this.#state.incarnation;
  }

  #add(key: string, event: ScheduledEvent): void {
    const isStarted = event.eventStatus === 'Started';
    const occurrence = this.#nextOccurrence++;
    this.#keep({ ...this.#sight, key, occurrence, event });
    this.#report(isStarted ? 'started' : 'scheduled', { key, occurrence, event }, null, {
      withoutNotice: isStarted && isJustBefore(this.#state.lastGoodAt, this.#at),
    });
  }

  #compare(known: KnownEvent, listed: DocumentEvent): void {
    const event = contentNow(listed, known);
    const fields = changedFields(known, event, this.#document.apiVersion);
    // Another api-version has another epoch.
    const isSameSight = known.listed && known.epoch === this.#epoch.number;
    if (isSameSight && isIdentical(known.event, event)) return;
    const now = { ...known, ...this.#sight, event };
    this.#keep(now);
    const previousStatus = known.event.eventStatus;
    if (previousStatus === 'Scheduled' && event.eventStatus === 'Started') this.#report('started', now, previousStatus);
    else if (fields.length > 0) this.#report('updated', now, previousStatus, { changedFields: fields });
  }

  /** The common fields of all events that this document lists. */
  get #sight() {
    return {
      apiVersion: this.#document.apiVersion,
      epoch: this.#epoch.number,
      listed: true,
      lastListedAt: null,
      missing: null,
    };
  }

  #unlisted(known: KnownEvent): KnownEvent {
    return known.listed ? { ...known, listed: false, lastListedAt: this.#state.lastGoodAt } : known;
  }

  #miss(unlisted: KnownEvent): void {
    const missing = unlisted.missing ?? missingSince(unlisted, this.#epoch, this.#at);
    const missingAt = pinned(missing.at, this.#at);
    const known =
      unlisted.missing?.at === missingAt ? unlisted : { ...unlisted, missing: { ...missing, at: missingAt } };
    if (this.#settings.isOurs && this.#hasEnded(known, missingAt)) this.#end(known);
    else this.#keep(known);
  }

  #end(known: KnownEvent): void {
    const { key, occurrence } = known;
    this.#events.delete(key);
    const outcome = outcomeOf(known, {
      epoch: this.#epoch,
      at: this.#at,
      byEmptyAnswer: this.#emptyRow !== null,
      isApproved: () => this.#settings.isApproved(key, occurrence),
    });
    this.#report('ended', known, known.event.eventStatus, { outcome });
  }

  #hasEnded(known: KnownEvent, missingAt: Instant): boolean {
    const { settleMs } = this.#settings;
    const isProven =
      hasSettled(this.#epoch, this.#at, settleMs) || hasOutlasted(missingAt, this.#epoch, this.#at, settleMs);
    if (known.epoch !== this.#epoch.number && !isProven) return false;
    return this.#emptyRow === null || isConvincing(this.#emptyRow, this.#at);
  }

  #keep(known: KnownEvent): void {
    this.#events.set(known.key, known);
  }

  #report(
    phase: Phase,
    known: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>,
    previousStatus: EventChange['previousStatus'],
    more: { changedFields?: readonly EventField[]; outcome?: EndOutcome; withoutNotice?: boolean } = {},
  ): void {
    const id = unusedId(
      eventChangeId(phase, known.event),
      (used) => this.#usedIds.has(used) || this.#settings.isUsed(used),
    );
    this.#usedIds.add(id);
    const { key, occurrence, event } = known;
    const usual = {
      changedFields: [],
      outcome: null,
      withoutNotice: false,
      incarnation: this.#incarnation,
      at: this.#at,
    };
    this.#changes.push({ kind: 'event', phase, id, key, occurrence, event, previousStatus, ...usual, ...more });
  }

  /** A new api-version is covered by its new epoch, and an added or removed event by its change. */
  #isNews(after: KnownState): boolean {
    const before = this.#state;
    if (
      this.#changes.length > 0 ||
      before.incarnation !== after.incarnation ||
      before.epoch?.number !== after.epoch?.number
    )
      return true;
    return [...after.events].some(([key, known]) => before.events.get(key) !== known);
  }
}
