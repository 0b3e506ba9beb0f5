// A Scheduled event, its approvals and its governing rule → what happens if nobody acts. Pure.
import { toRfc3339 } from '../../formats/dates.ts';
import type { EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { isDrill } from '../../model/ids.ts';
import type { NextStep } from '../../model/next-step.ts';
import { ageMs } from '../../time/clock.ts';
import { isPosted } from '../record/approval-state.ts';
import { isDecidedByRule, settled } from '../record/decisions.ts';
import { AGAIN_AFTER_MS } from '../record/refusals.ts';
import { withDeadline } from '../record/transitions.ts';
import { type GovernedEvent, isPast } from '../rules/governed.ts';
import { isOnlyAdvice } from '../rules/policy.ts';
import type { Rules } from '../rules/quorum.ts';

interface NextStepParts {
  readonly rules: Rules;
  /** As stored; null if there is none. */
  readonly approval: EventApproval | null;
  /** Null if the event is not Scheduled. */
  readonly governedEvent: GovernedEvent | null;
  /** The last good document lists the event, and the bridge is not blind. */
  readonly isSeen: boolean;
  /** Milliseconds from `at` until this bridge may post a decided approval; null if it never does. */
  readonly turnMs: (approval: EventApproval, at: Instant) => number | null;
  readonly at: Instant;
}

/** An approval that will be `submitting` at this time. */
interface Decided {
  readonly approval: EventApproval;
  readonly at: Instant;
}

const NOTHING: NextStep = { action: null, at: null, by: null };

/**
 * Returns what happens to an event if nobody acts and sight stays as it is (contract of `nextStep` in `/v1/events`).
 * What this bridge would post only after NotBefore counts as left to Azure.
 */
export function nextStepOf(parts: NextStepParts): NextStep {
  const { governedEvent, approval } = parts;
  if (governedEvent === null || isOnlyAdvice(governedEvent.known.event)) return NOTHING;
  const { notBefore } = governedEvent.known.event;
  const start: NextStep = { action: 'start', at: notBefore, by: null };
  if (approval !== null && isPosted(approval.state)) return start;
  return ownApproval(parts, governedEvent) ?? (notBefore === null ? NOTHING : start);
}

function ownApproval(parts: NextStepParts, governedEvent: GovernedEvent): NextStep | null {
  const decided = decidedApproval(parts, governedEvent);
  if (decided?.approval.state !== 'submitting') return null;
  const turnMs = parts.turnMs(decided.approval, decided.at);
  if (turnMs === null) return null;
  const { event } = governedEvent.known;
  const atMs = decided.at.wallMs + turnMs;
  const isStartedBefore =
    event.notBefore !== null && !isPast(event, parts.at.wallMs) && atMs > Date.parse(event.notBefore);
  if (isStartedBefore) return null;
  const { policy } = governedEvent.governed.ruling;
  return { action: 'approve', at: toRfc3339(atMs), by: decided.approval.decision?.by === 'quorum' ? null : policy };
}

/** Returns the next decision that nobody but this bridge makes: it stands, is repeated after a refusal, or is due later. */
function decidedApproval(parts: NextStepParts, governedEvent: GovernedEvent): Decided | null {
  const { rules, approval, isSeen, at } = parts;
  const { known, governed } = governedEvent;
  // The bridge itself accepts drills, so it needs no document for them.
  if (!isSeen && !isDrill(known.key)) return null;
  if (approval?.state === 'submitting') return { approval, at };
  if (approval?.state === 'failed' && isDecidedByRule(approval, governed)) {
    const again = later(at, Math.max(0, AGAIN_AFTER_MS - ageMs(approval.at, at)));
    return { approval: settled(rules, approval, governedEvent, again), at: again };
  }
  if (!isSeen || governed.isDone || governed.dueMs === null || governed.ruling.deadline?.then !== 'approve')
    return null;
  const due = later(at, Math.max(0, governed.dueMs - at.wallMs));
  const after = withDeadline(rules, approval, governedEvent, due);
  return after && { approval: after, at: due };
}

function later({ wallMs, elapsedMs }: Instant, byMs: number): Instant {
  return { wallMs: wallMs + byMs, elapsedMs: elapsedMs === null ? null : elapsedMs + byMs };
}
