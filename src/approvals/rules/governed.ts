// A Scheduled event and the rules in force → the decision that governs it until it changes.
import type { Instant, KnownEvent, ScheduledEvent } from '../../model/events.ts';
import type { PolicyDecision } from './policy.ts';
import type { Rules } from './quorum.ts';
import { contains, type Opening } from './windows.ts';

/** The decision that governs a Scheduled event until it changes or the bridge restarts. */
export interface Governed {
  /** The decision of the rule that matched. */
  readonly matched: PolicyDecision;
  /** The decision that applies: that of the rule, or a wait if `otherwise` says so and no window opens in time. */
  readonly ruling: PolicyDecision;
  /** The opening during which the rule approves: open or ahead. Null without windows, and if none opens in time. */
  readonly opening: Opening | null;
  /** When `opening` was computed, in milliseconds since 1970. */
  readonly computedMs: number;
  readonly since: Instant;
  /** When the deadline expires, in milliseconds since 1970; null without one. */
  readonly dueMs: number | null;
  /** The deadline has expired, or was already past when it was set or moved. It decides nothing any more. */
  readonly isDone: boolean;
}

/** The rules that say which decision governs an event. */
type GoverningRules = Pick<Rules, 'policy' | 'calendar'>;

/** A Scheduled event with the decision that governs it. */
export interface GovernedEvent {
  readonly known: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>;
  readonly governed: Governed;
}

export class GovernedEvents {
  readonly #rules: GoverningRules;
  readonly #onDeadline: (key: string, dueMs: number | null) => void;
  /** By key. */
  readonly #governed = new Map<string, { readonly occurrence: number; readonly governed: Governed }>();

  /**
   * `onDeadline` receives the next moment at which an event must be decided again, in milliseconds since 1970: its
   * deadline, or the opening or the end of its window. Null: none.
   */
  constructor(rules: GoverningRules, onDeadline: (key: string, dueMs: number | null) => void) {
    this.#rules = rules;
    this.#onDeadline = onDeadline;
  }

  /** Returns the event with the decision that governs it, or null if the event is not Scheduled. */
  governedEventOf(known: GovernedEvent['known']): GovernedEvent | null {
    const entry = this.#governed.get(known.key);
    return entry?.occurrence === known.occurrence ? { known, governed: entry.governed } : null;
  }

  /** Applies the current rules to an event after a change or a restart. Stores nothing. */
  applyRules(known: GovernedEvent['known'], at: Instant): Governed {
    return govern(this.#rules, known.event, at, this.governedEventOf(known)?.governed ?? null);
  }

  /** Computes the window of an event again, when the one before has opened or closed. The same rule governs it. */
  nextOpening({ known, governed }: GovernedEvent, at: Instant): Governed {
    return { ...onTerms(this.#rules, governed.matched, known.event, at, governed), since: governed.since };
  }

  /** Keeps the decision for an event. `governed` is null if the event is not Scheduled. */
  keep({ key, occurrence }: GovernedEvent['known'], governed: Governed | null): void {
    if (governed === null) this.#governed.delete(key);
    else this.#governed.set(key, { occurrence, governed });
    this.#onDeadline(key, governed && nextMomentMs(governed));
  }

  /** Removes an event that has ended. */
  forget({ key, occurrence }: GovernedEvent['known']): void {
    if (this.#governed.get(key)?.occurrence === occurrence) this.#governed.delete(key);
    this.#onDeadline(key, null);
  }
}

/**
 * Returns the decision of the policy for an event. `isDone` stays as it is if neither the deadline nor the content of
 * the rule has changed.
 * @param before the previous decision for this occurrence; null when the event is first seen and at a restart
 */
export function govern(rules: GoverningRules, event: ScheduledEvent, at: Instant, before: Governed | null): Governed {
  return onTerms(rules, rules.policy(event, at.wallMs), event, at, before);
}

function onTerms(
  { calendar }: GoverningRules,
  matched: PolicyDecision,
  event: ScheduledEvent,
  at: Instant,
  before: Governed | null,
): Governed {
  const opening = openingFor(calendar, matched, event, at.wallMs);
  const isLeft = matched.during.length > 0 && opening === null;
  const ruling = isLeft && matched.otherwise === 'wait' ? { ...matched, then: 'wait' as const } : matched;
  const dueMs =
    ruling.then === 'wait' && ruling.deadline && event.notBefore !== null
      ? Date.parse(event.notBefore) - ruling.deadline.beforeMs
      : null;
  const isSame = before?.dueMs === dueMs && before.ruling.rule === ruling.rule;
  const isDone = isSame ? before.isDone : dueMs === null || dueMs <= at.wallMs;
  return { matched, ruling, opening, computedMs: at.wallMs, since: at, dueMs, isDone };
}

/** Returns the opening in which the rule approves at `nowMs` or later; null if none begins before NotBefore. */
export function openingFor(
  calendar: Rules['calendar'],
  { during }: Pick<PolicyDecision, 'during'>,
  { notBefore }: Pick<ScheduledEvent, 'notBefore'>,
  nowMs: number,
): Opening | null {
  const opening = during.length === 0 ? null : calendar(during, nowMs);
  return opening !== null && notBefore !== null && opening.fromMs >= Date.parse(notBefore) ? null : opening;
}

/** Whether the governing rule approves at this time, by its windows. */
export function approvesAt({ ruling, opening }: Governed, nowMs: number): boolean {
  return ruling.then === 'approve' && (ruling.during.length === 0 || (opening !== null && contains(opening, nowMs)));
}

/** The opening or the end of the window of an event; null without one. */
export function windowEdgeMs({ opening, computedMs }: Governed): number | null {
  if (opening === null) return null;
  return computedMs < opening.fromMs ? opening.fromMs : opening.untilMs;
}

function nextMomentMs(governed: Governed): number | null {
  const moments = [governed.isDone ? null : governed.dueMs, windowEdgeMs(governed)].filter((ms) => ms !== null);
  return moments.length === 0 ? null : Math.min(...moments);
}

export function isPast({ notBefore }: ScheduledEvent, nowMs: number): boolean {
  return notBefore !== null && Date.parse(notBefore) <= nowMs;
}
