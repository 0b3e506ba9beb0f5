// Documents over time → what the rules decide about each event. Stores and posts nothing.
import type { EventApproval } from '../../model/approvals.ts';
import type { Instant, ScheduledEvent } from '../../model/events.ts';
import { contentJson, isDrill } from '../../model/ids.ts';
import type { NextStep } from '../../model/next-step.ts';
import { begun, review, withAllotment, withDeadline } from '../record/transitions.ts';
import type { Use } from '../rules/budgets.ts';
import { type Governed, type GovernedEvent, GovernedEvents, isPast, windowEdgeMs } from '../rules/governed.ts';
import { inWindowMs } from '../rules/group-order.ts';
import type { Rules } from '../rules/quorum.ts';
import { nextStepOf } from './next-step.ts';

/** What the rules decide about an event at a moment. */
export interface Forecasted {
  readonly event: ScheduledEvent;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Null if the event is Started. */
  readonly governed: Governed | null;
  /** Whether the deadline of the rule has approved the event, or waits for a budget since. */
  readonly isDue: boolean;
  readonly nextStep: NextStep;
  readonly heldBackBy: readonly string[];
}

interface Entry {
  known: GovernedEvent['known'];
  approval: EventApproval | null;
  /** A rule has approved it: its names are in use until its end and the rest of each budget. */
  isApproved: boolean;
  heldBackBy: readonly string[];
  /** What was last returned about it; null if that was an approval at its moment, which holds from then on. */
  told: string | null;
}

/** An event that a rule with budgets approves as soon as it fits them. */
interface Waiting {
  readonly entry: Entry;
  readonly governedEvent: GovernedEvent;
  readonly after: EventApproval;
}

/**
 * Decides as a bridge would that reads each document at its moment, that has no approvers, and whose group, if any, it
 * leads. What a rule has approved is in use from then on, but its start comes from the documents alone.
 */
export class Forecast {
  readonly #rules: Rules;
  readonly #governed: GovernedEvents;
  /** By key: when an event must be decided again. */
  readonly #due = new Map<string, number>();
  readonly #entries = new Map<string, Entry>();
  #rests: Use[] = [];
  #occurrences = 0;
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#governed = new GovernedEvents(rules, (key, dueMs) => {
      if (dueMs === null) this.#due.delete(key);
      else this.#due.set(key, dueMs);
    });
  }

  /** When the next event must be decided again, or the rest of an ended one is over; null if nothing is due. */
  nextMs(): number | null {
    const isWaiting = [...this.#entries.values()].some(({ heldBackBy }) => heldBackBy.length > 0);
    const restMs = isWaiting ? this.#rules.allotment.nextRestEndMs(this.#rests, this.#nowMs) : null;
    const next = [...this.#due.values(), ...(restMs === null ? [] : [restMs])].reduce(
      (first, ms) => Math.min(first, ms),
      Number.POSITIVE_INFINITY,
    );
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  /**
   * Takes a document. Returns its events that are new, those that have changed and are Scheduled, and all others about
   * which something else holds now than was returned before.
   * @param events by key: the EventId in lower case
   */
  observe(events: ReadonlyMap<string, ScheduledEvent>, atMs: number): readonly Forecasted[] {
    const at = this.#at(atMs);
    for (const [key, entry] of this.#entries) if (!events.has(key)) this.#end(entry, at);
    const changed = [...events].filter(([key, event]) => this.#take(key, event, at)).map(([key]) => key);
    return this.#allot(at, new Set(changed));
  }

  /** Decides what falls due by this moment. Returns the events about which something else holds than was returned. */
  advance(atMs: number): readonly Forecasted[] {
    const at = this.#at(atMs);
    for (const [key, entry] of this.#entries) {
      for (let dueMs = this.#due.get(key); dueMs !== undefined && dueMs <= atMs; dueMs = this.#due.get(key))
        this.#fallDue(entry, at);
    }
    return this.#allot(at, new Set());
  }

  #at(wallMs: number): Instant {
    this.#nowMs = wallMs;
    return { wallMs, elapsedMs: null };
  }

  /** Returns whether the event is new, or has changed and is Scheduled. */
  #take(key: string, event: ScheduledEvent, at: Instant): boolean {
    const before = this.#entries.get(key);
    if (before !== undefined && contentJson(before.known.event) === contentJson(event)) return false;
    const known = { key, occurrence: before?.known.occurrence ?? ++this.#occurrences, event };
    const entry = before ?? { known, approval: null, isApproved: false, heldBackBy: [], told: null };
    entry.known = known;
    this.#entries.set(key, entry);
    if (event.eventStatus === 'Scheduled') this.#review(entry, this.#governed.applyRules(known, at), at);
    else {
      this.#governed.keep(known, null);
      entry.approval = entry.approval && begun(entry.approval, at, 'moot');
    }
    return before === undefined || event.eventStatus === 'Scheduled';
  }

  #review(entry: Entry, governed: Governed, at: Instant): void {
    this.#governed.keep(entry.known, governed);
    entry.approval = review(this.#rules, entry.approval, { known: entry.known, governed }, at).approval;
    this.#noteApproval(entry);
  }

  #end(entry: Entry, at: Instant): void {
    const { known, isApproved } = entry;
    if ((isApproved || known.event.eventStatus === 'Started') && !isDrill(known.key))
      this.#rests.push({ resources: known.event.resources, endedMs: at.wallMs });
    this.#entries.delete(known.key);
    this.#governed.forget(known);
  }

  /** As a running bridge does when a window opens or closes, or a deadline expires. */
  #fallDue(entry: Entry, at: Instant): void {
    const { known } = entry;
    const governedEvent = this.#governed.governedEventOf(known);
    // What is decided was posted, so neither the end of its window nor a deadline concerns it any more.
    if (governedEvent === null || isDecided(entry)) {
      this.#due.delete(known.key);
      return;
    }
    const { governed } = governedEvent;
    const edgeMs = windowEdgeMs(governed);
    if (edgeMs !== null && edgeMs <= at.wallMs) {
      this.#review(entry, this.#governed.nextOpening(governedEvent, at), at);
      return;
    }
    if (governed.ruling.deadline?.then === 'approve' && !isPast(known.event, at.wallMs))
      entry.approval = withDeadline(this.#rules, entry.approval, governedEvent, at);
    this.#governed.keep(known, { ...governed, isDone: true });
    this.#noteApproval(entry);
  }

  #noteApproval(entry: Entry): void {
    entry.isApproved ||= isDecided(entry);
  }

  /** Approves what fits its budgets. Returns `changed`, and what else is not as it was returned before. */
  #allot(at: Instant, changed: ReadonlySet<string>): readonly Forecasted[] {
    const waiting = [...this.#entries.values()].flatMap((entry): readonly Waiting[] => {
      const governedEvent = this.#governed.governedEventOf(entry.known);
      const after = governedEvent && withAllotment(this.#rules, entry.approval, governedEvent, at);
      return governedEvent && after ? [{ entry, governedEvent, after }] : [];
    });
    const isOfDrill = ({ entry }: Waiting) => isDrill(entry.known.key);
    const held = this.#approveWhatFits(
      waiting.filter((each) => !isOfDrill(each)),
      at,
    );
    // A drill takes no place of a maintenance, so it is tried behind them.
    const heldDrills = this.#approveWhatFits(waiting.filter(isOfDrill), at);
    // Once more, because what was approved now may be in the way, too.
    const heldBack = this.#heldBack([...held, ...heldDrills], at);
    for (const entry of this.#entries.values()) entry.heldBackBy = heldBack.get(entry.known.key) ?? [];
    return [...this.#entries.values()].flatMap((entry) => this.#news(entry, changed.has(entry.known.key), at));
  }

  /** Returns those that do not fit. */
  #approveWhatFits(tried: readonly Waiting[], at: Instant): readonly Waiting[] {
    const heldBack = this.#heldBack(tried, at);
    const isHeld = ({ entry }: Waiting) => (heldBack.get(entry.known.key) ?? []).length > 0;
    for (const { entry, after } of tried.filter((each) => !isHeld(each))) {
      entry.approval = after;
      this.#noteApproval(entry);
    }
    return tried.filter(isHeld);
  }

  /** Each drill is tried alone, because drills take no place of each other either. */
  #heldBack(waiting: readonly Waiting[], at: Instant): ReadonlyMap<string, readonly string[]> {
    const uses = [...this.#entries.values()]
      .filter(({ isApproved, known }) => (isApproved || known.event.eventStatus === 'Started') && !isDrill(known.key))
      .map(({ known }): Use => ({ resources: known.event.resources, endedMs: null }));
    const candidates = waiting.map(({ governedEvent: { known, governed } }) => ({
      key: known.key,
      event: known.event,
      budgets: governed.ruling.budgets,
    }));
    const together = candidates.filter(({ key }) => !isDrill(key));
    const alone = candidates.filter(({ key }) => isDrill(key)).map((drill) => [drill]);
    const tried = [together, ...alone].filter(({ length }) => length > 0);
    const { allotment } = this.#rules;
    return new Map(tried.flatMap((each) => [...allotment.heldBack([...uses, ...this.#rests], each, at.wallMs)]));
  }

  #news(entry: Entry, isChanged: boolean, at: Instant): readonly Forecasted[] {
    if (entry.known.event.eventStatus === 'Started') entry.told = null;
    if (!isChanged && entry.told === null) return [];
    const forecasted = this.#forecasted(entry, at);
    const { governed, nextStep, heldBackBy } = forecasted;
    const { ruling, opening } = governed ?? {};
    const said = JSON.stringify([ruling?.policy, ruling?.then, opening?.window, nextStep, heldBackBy]);
    const isNews = isChanged || said !== entry.told;
    entry.told = governed === null || isDecided(entry) ? null : said;
    return isNews ? [forecasted] : [];
  }

  #forecasted(entry: Entry, at: Instant): Forecasted {
    const { known, approval, heldBackBy } = entry;
    const governedEvent = this.#governed.governedEventOf(known);
    const nextStep = nextStepOf({
      ...{ rules: this.#rules, approval, governedEvent, heldBackBy, at },
      isSeen: true,
      turnMs: ({ decision }, from) => inWindowMs(decision?.window ?? null, 0, from),
    });
    const governed = governedEvent?.governed ?? null;
    const isDue = governed?.isDone === true && governed.dueMs !== null && approval?.decision?.dueMs === governed.dueMs;
    return { event: known.event, atMs: at.wallMs, governed, isDue, nextStep, heldBackBy };
  }
}

function isDecided({ approval }: Entry): boolean {
  return approval?.state === 'submitting' || approval?.state === 'dry-run';
}
