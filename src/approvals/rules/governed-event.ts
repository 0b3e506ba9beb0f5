// Policy, Scheduled event and time → the decision in force and its deadline (behaviour 8.6). Pure.
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
