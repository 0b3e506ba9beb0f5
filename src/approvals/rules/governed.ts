// A Scheduled event and the rules in force → the decision that governs it until it changes.
import type { Instant, KnownEvent, ScheduledEvent } from '../../model/events.ts';
import type { Policy, PolicyDecision } from './policy.ts';
import type { Rules } from './quorum.ts';

/** The decision that governs a Scheduled event until it changes or the bridge restarts. */
export interface Governed {
  readonly ruling: PolicyDecision;
  readonly since: Instant;
  /** When the deadline expires, in milliseconds since 1970; null without one. */
  readonly dueMs: number | null;
  /** The deadline has expired, or was already past when it was set or moved. It decides nothing any more. */
  readonly isDone: boolean;
}

/** A Scheduled event with the decision that governs it. */
export interface GovernedEvent {
  readonly known: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>;
  readonly governed: Governed;
}

export class GovernedEvents {
  readonly #rules: Pick<Rules, 'policy'>;
  readonly #onDeadline: (key: string, dueMs: number | null) => void;
  /** By key. */
  readonly #governed = new Map<string, { readonly occurrence: number; readonly governed: Governed }>();

  /** `onDeadline` receives the next deadline of an event in milliseconds since 1970, or null if there is none. */
  constructor(rules: Pick<Rules, 'policy'>, onDeadline: (key: string, dueMs: number | null) => void) {
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
    return govern(this.#rules.policy, known.event, at, this.governedEventOf(known)?.governed ?? null);
  }

  /** Keeps the decision for an event. `governed` is null if the event is not Scheduled. */
  keep({ key, occurrence }: GovernedEvent['known'], governed: Governed | null): void {
    if (governed === null) this.#governed.delete(key);
    else this.#governed.set(key, { occurrence, governed });
    this.#onDeadline(key, governed === null || governed.isDone ? null : governed.dueMs);
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
export function govern(policy: Policy, event: ScheduledEvent, at: Instant, before: Governed | null): Governed {
  const ruling = policy(event, at.wallMs);
  const dueMs =
    ruling.deadline && event.notBefore !== null ? Date.parse(event.notBefore) - ruling.deadline.beforeMs : null;
  const isSame = before?.dueMs === dueMs && before.ruling.rule === ruling.rule;
  return { ruling, dueMs, since: at, isDone: isSame ? before.isDone : dueMs === null || dueMs <= at.wallMs };
}

export function isPast({ notBefore }: ScheduledEvent, nowMs: number): boolean {
  return notBefore !== null && Date.parse(notBefore) <= nowMs;
}
