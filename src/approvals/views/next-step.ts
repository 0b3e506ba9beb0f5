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
import { whenOpened, withAllotment, withDeadline } from '../record/transitions.ts';
import { type GovernedEvent, isPast, openingFor } from '../rules/governed.ts';
import { isOnlyAdvice } from '../rules/policy.ts';
import type { Rules } from '../rules/quorum.ts';
import type { Opening } from '../rules/windows.ts';

interface NextStepParts {
  readonly rules: Rules;
  /** As stored; null if there is none. */
  readonly approval: EventApproval | null;
  /** Null if the event is not Scheduled. */
  readonly governedEvent: GovernedEvent | null;
  /** The budgets that hold the event back now. */
  readonly heldBackBy: readonly string[];
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

/** How many openings of windows are tried for a turn that comes after the end of the first: two weeks of nights. */
const MOST_OPENINGS = 14;

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
  const { event } = governedEvent.known;
  const { policy } = governedEvent.governed.ruling;
  if (parts.heldBackBy.length > 0) return isHeldBack(parts, governedEvent) ? heldBack(policy) : null;
  const decided = decidedApproval(parts, governedEvent);
  const atMs = decided && postedAtMs(parts, governedEvent, decided);
  if (decided === null || atMs === null) return null;
  const isStartedBefore =
    event.notBefore !== null && !isPast(event, parts.at.wallMs) && atMs > Date.parse(event.notBefore);
  if (isStartedBefore) return null;
  return { action: 'approve', at: toRfc3339(atMs), by: decided.approval.decision?.by === 'quorum' ? null : policy };
}

function heldBack(policy: string | null): NextStep {
  return { action: 'approve', at: null, by: policy };
}

/** Whether this bridge approves the event itself as soon as it fits its budgets. */
function isHeldBack({ rules, approval, isSeen, turnMs, at }: NextStepParts, governedEvent: GovernedEvent): boolean {
  if (!isSeen && !isDrill(governedEvent.known.key)) return false;
  const after = whenOpened(rules, approval, governedEvent, at);
  return after.state === 'submitting' && turnMs(after, at) !== null;
}

/** Returns when the approval is posted: at this bridge's turn, in this window of its rule or a later one. */
function postedAtMs(parts: NextStepParts, governedEvent: GovernedEvent, first: Decided): number | null {
  let { approval, at } = first;
  for (let opened = 0; opened < MOST_OPENINGS && approval.state === 'submitting'; opened++) {
    const turnMs = parts.turnMs(approval, at);
    if (turnMs !== null) return at.wallMs + turnMs;
    const window = approval.decision?.window ?? null;
    const next = window && inNextWindow(parts, governedEvent, approval, window);
    if (next === null) return null;
    ({ approval, at } = next);
  }
  return null;
}

/** Returns the approval as the next window decides it; null if there is none. */
function inNextWindow(
  { rules, at }: NextStepParts,
  { known, governed }: GovernedEvent,
  approval: EventApproval,
  { untilMs }: Pick<Opening, 'untilMs'>,
): Decided | null {
  const opening = openingFor(rules.calendar, governed.ruling, known.event, untilMs);
  if (opening === null) return null;
  const opened = later(at, opening.fromMs - at.wallMs);
  const undecided: EventApproval = { ...approval, state: 'waiting', decision: null };
  return {
    approval: whenOpened(rules, undecided, { known, governed: { ...governed, opening } }, opened),
    at: opened,
  };
}

/** Returns the next decision that nobody but this bridge makes: it stands, is repeated after a refusal, or is due later. */
function decidedApproval(parts: NextStepParts, governedEvent: GovernedEvent): Decided | null {
  const { rules, approval, isSeen, at } = parts;
  const { known, governed } = governedEvent;
  // The bridge itself accepts drills, so it needs no document for them.
  if (!isSeen && !isDrill(known.key)) return null;
  if (approval?.state === 'submitting') return { approval, at };
  if (approval?.state === 'failed' && isDecidedByRule(approval, governed, at)) {
    const again = later(at, Math.max(0, AGAIN_AFTER_MS - ageMs(approval.at, at)));
    const window = approval.decision?.window ?? null;
    if (window !== null && again.wallMs >= window.untilMs) return inNextWindow(parts, governedEvent, approval, window);
    return { approval: settled(rules, approval, governedEvent, again, { isAllotted: true }), at: again };
  }
  const { opening } = governed;
  if (opening !== null) {
    // If it is open already, the event is not reviewed yet: the machine slept or its clock was set.
    const opened = later(at, Math.max(0, opening.fromMs - at.wallMs));
    return { approval: whenOpened(rules, approval, governedEvent, opened), at: opened };
  }
  if (!isSeen || governed.isDone || governed.dueMs === null || governed.ruling.deadline?.then !== 'approve')
    return null;
  const due = later(at, Math.max(0, governed.dueMs - at.wallMs));
  const after = withDeadline(rules, approval, governedEvent, due);
  return after && { approval: withAllotment(rules, after, governedEvent, due) ?? after, at: due };
}

function later({ wallMs, elapsedMs }: Instant, byMs: number): Instant {
  return { wallMs: wallMs + byMs, elapsedMs: elapsedMs === null ? null : elapsedMs + byMs };
}
