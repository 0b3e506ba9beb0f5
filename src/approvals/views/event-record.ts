// Stored and known approvals of an event → GET /v1/approvals/EVENT_ID (behaviour 8.18). Pure.
import { toRfc3339 } from '../../formats/dates.ts';
import type {
  ApprovalDecision,
  ApprovalState,
  ApprovalStep,
  EventApproval,
  RecordPart,
} from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { isDrill } from '../../model/ids.ts';
import type { BudgetUse, GoverningRule, NextStep } from '../../model/next-step.ts';
import { ageMs } from '../../time/clock.ts';
import type { UsedBudget } from '../record/allotments.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import type { Rules } from '../rules/quorum.ts';
import { asItCounts, type Summary, summaryOf } from './result.ts';

/** Times are RFC 3339. */
export interface EventRecord extends Omit<Summary, 'state' | 'at'> {
  /** In the letter case of the metadata service if it is known, else as requested. */
  readonly eventId: string;
  /** Only for a drill. */
  readonly drill?: true;
  /** `none`: nothing was recorded or decided, and no rule requires approvers. */
  readonly state: ApprovalState | 'none';
  /** When `state` was reached; null with `none`. */
  readonly at: string | null;
  readonly decidedBy: ApprovalDecision['by'];
  /** The deadline of the rule that governs the event, and its effect; null unless the event is Scheduled. */
  readonly deadline: { readonly at: string; readonly then: 'approve' | 'leave' } | null;
  /**
   * The rank of this VM in the group, 0 for the leader; null without `group.submit: leader`, and for a VM that never
   * posts.
   */
  readonly rank: number | null;
  /** When this bridge may post the decided approval; null if it has nothing to post. */
  readonly submitsAt: string | null;
  readonly submittedAt: string | null;
  readonly nextStep: NextStep;
  /** The budgets that hold an approval back now. */
  readonly heldBackBy: readonly string[];
  /** What is in use of these budgets; absent if there are none. */
  readonly budgetUse?: readonly BudgetUse[];
  /** The rule that governs the event; null unless the event is Scheduled. */
  readonly rule: GoverningRule | null;
  /**
   * Seconds since the metadata service accepted it without starting the event; null unless `state` is `submitted`, and
   * after the event.
   */
  readonly notStartedForSeconds: number | null;
  /** A part of the record, oldest first. */
  readonly steps: readonly StepView[];
  /** The value of `?after=` for the next part; null at the end. */
  readonly next: number | null;
  /** Steps without a line in the record, because their approver had reached its limit. */
  readonly unwritten: readonly UnwrittenView[];
}

interface UnwrittenView {
  readonly approver: string | null;
  readonly steps: number;
  readonly since: string;
  readonly until: string;
}

type StepView = Omit<ApprovalStep, 'atMs'> & { readonly at: string };

interface LifeParts {
  readonly rules: Rules;
  readonly eventId: string;
  /** The event has ended. */
  readonly isOver: boolean;
  readonly approval: EventApproval | null;
  /** Null if the event is not Scheduled. */
  readonly governedEvent: GovernedEvent | null;
  readonly record: RecordPart;
  readonly rank: number | null;
  /** Milliseconds until this bridge may post; null if it never does. */
  readonly turnMs: number | null;
  readonly at: Instant;
  readonly nextStep: NextStep;
  readonly heldBackBy: readonly string[];
  /** The budgets in `heldBackBy`. */
  readonly usedBudgets: readonly UsedBudget[];
  readonly rule: GoverningRule | null;
}

/** Of a budget. */
const MOST_MACHINES = 100;
const NOTHING = { state: 'none', approvedBy: [], at: null, waitingFor: [], holds: [] } as const;

export function lifeOf(parts: LifeParts): EventRecord {
  const { rules, eventId, isOver, governedEvent, record, rank, turnMs, at, nextStep, heldBackBy, usedBudgets, rule } =
    parts;
  const approval = asItCounts(parts.approval, governedEvent);
  const isWaitedFor = approval?.state === 'submitted' && !isOver;
  const { steps, next, submittedMs, unwritten } = record;
  return {
    eventId,
    ...(isDrill(eventId) && { drill: true as const }),
    ...(summaryOf(rules, parts.approval, governedEvent) ?? {
      ...NOTHING,
      policy: governedEvent?.governed.ruling.policy ?? null,
    }),
    decidedBy: approval?.decision?.by ?? null,
    deadline: deadlineOf(governedEvent, approval),
    rank,
    submitsAt: approval?.state === 'submitting' && turnMs !== null ? toRfc3339(at.wallMs + turnMs) : null,
    submittedAt: submittedMs === null ? null : toRfc3339(submittedMs),
    nextStep,
    heldBackBy,
    ...(usedBudgets.length > 0 && { budgetUse: usedBudgets.map(budgetUseOf) }),
    rule,
    notStartedForSeconds: isWaitedFor ? Math.max(0, Math.floor(ageMs(approval.at, at) / 1000)) : null,
    steps: steps.map(({ atMs, ...step }) => ({ at: toRfc3339(atMs), ...step })),
    next,
    unwritten: unwritten.map(({ sinceMs, untilMs, ...of }) => ({
      ...of,
      since: toRfc3339(sinceMs),
      until: toRfc3339(untilMs),
    })),
  };
}

function budgetUseOf({ name, atMost, machines }: UsedBudget): BudgetUse {
  const shown = machines.slice(0, MOST_MACHINES).map(({ name: machine, use, untilMs }) => ({
    ...{ name: machine, eventId: use.eventId },
    until: untilMs === null ? null : toRfc3339(untilMs),
  }));
  return { name, atMost, used: machines.length, machines: shown };
}

/** A deadline that has expired without an approval leaves the event to Azure, even if its rule has `approve`. */
function deadlineOf(governedEvent: GovernedEvent | null, approval: EventApproval | null): EventRecord['deadline'] {
  if (governedEvent === null) return null;
  const { dueMs, ruling, isDone } = governedEvent.governed;
  if (dueMs === null || ruling.deadline === null) return null;
  const isLeft = isDone && approval?.decision?.dueMs !== dueMs;
  return { at: toRfc3339(dueMs), then: isLeft ? 'leave' : ruling.deadline.then };
}
