// Policy and Scheduled events → the decision for each, and when deadlines fall due (behaviour 8.5).
import type { Instant, KnownEvent, ScheduledEvent } from '../../model/events.ts';
import type { Policy, PolicyDecision } from './policy.ts';

/** What governs one Scheduled event from a change of it, or a start, to the next. */
export interface Governed {
  readonly ruling: PolicyDecision;
  readonly since: Instant;
  /** When the deadline falls due, in milliseconds since 1970; null without one. */
  readonly dueMs: number | null;
  /** It fell due, or lay behind when it was set or moved: from now on it decides nothing. */
  readonly isDone: boolean;
}

/** The event as it is known, and what governs it: while it is Scheduled. */
export interface GovernedEvent {
  readonly known: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>;
  readonly governed: Governed;
}

export class GovernedEvents {
  readonly #policy: Policy;
  readonly #onDeadline: (key: string, dueMs: number | null) => void;
  /** By key. */
  readonly #governed = new Map<string, { readonly occurrence: number; readonly governed: Governed }>();

  /** `onDeadline`: when the deadline of an event falls due, in milliseconds since 1970; null where none lies ahead. */
  constructor(policy: Policy, onDeadline: (key: string, dueMs: number | null) => void) {
    this.#policy = policy;
    this.#onDeadline = onDeadline;
  }

  /** The event with what governs it; null where it is not Scheduled. */
  matterOf(known: GovernedEvent['known']): GovernedEvent | null {
    const entry = this.#governed.get(known.key);
    return entry?.occurrence === known.occurrence ? { known, governed: entry.governed } : null;
  }

  /** The event after a change, or at a start, under the rules of now. Keeps nothing. */
  judge(known: GovernedEvent['known'], at: Instant): Governed {
    return govern(this.#policy, known.event, at, this.matterOf(known)?.governed ?? null);
  }

  /** Null: it is not Scheduled. */
  keep({ key, occurrence }: GovernedEvent['known'], governed: Governed | null): void {
    if (governed === null) this.#governed.delete(key);
    else this.#governed.set(key, { occurrence, governed });
    this.#onDeadline(key, governed === null || governed.isDone ? null : governed.dueMs);
  }

  /** The event has ended. */
  forget({ key, occurrence }: GovernedEvent['known']): void {
    if (this.#governed.get(key)?.occurrence === occurrence) this.#governed.delete(key);
    this.#onDeadline(key, null);
  }
}

/** `before`: what governed this occurrence so far; null when first seen and at a start. A deadline that has not moved, of a rule with the same content, stays as it is. */
export function govern(policy: Policy, event: ScheduledEvent, at: Instant, before: Governed | null): Governed {
  const ruling = policy(event, at.wallMs);
  const dueMs = ruling.deadline && event.notBefore !== null ? Date.parse(event.notBefore) - ruling.deadline.beforeMs : null;
  const isSame = before?.dueMs === dueMs && before.ruling.rule === ruling.rule;
  return { ruling, dueMs, since: at, isDone: isSame ? before.isDone : dueMs === null || dueMs <= at.wallMs };
}

/** Whether NotBefore has passed. */
export function isPast({ notBefore }: ScheduledEvent, nowMs: number): boolean {
  return notBefore !== null && Date.parse(notBefore) <= nowMs;
}
