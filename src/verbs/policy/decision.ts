// `policy test`: what the rules decide about an event → the decision, as data.
import { compileExplanation, type PassedRule } from '../../approvals/rules/explain.ts';
import type { Required } from '../../approvals/rules/options.ts';
import type { PolicyDecision } from '../../approvals/rules/policy.ts';
import { quorumOf } from '../../approvals/rules/quorum.ts';
import type { RulesInForce, RulesOptions } from '../../approvals/rules/rules-in-force.ts';
import type { Forecasted } from '../../approvals/views/forecast.ts';
import { toRfc3339Seconds } from '../../formats/dates.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import type { NextStep } from '../../model/next-step.ts';

/** Printed as one line of JSON. */
export interface Decision {
  /** RFC 3339: the time for which the decision is made. */
  readonly at: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly eventStatus: string;
  readonly eventSource: string;
  readonly resources: readonly string[];
  readonly notBefore: string | null;
  readonly durationInSeconds: number;
  /** The rule that decides: `documentation`, `policy[N]`; null if no rule matches. */
  readonly policy: string | null;
  /** Null if the event has started, so that there is nothing to decide. */
  readonly then: PolicyDecision['then'] | null;
  /** For a wait: the required approvers, as `approvals.required`; null otherwise. */
  readonly required: Required | null;
  /** For a wait: the approvers who may approve; empty if none may. */
  readonly waitingFor: readonly string[];
  /**
   * For a wait: whether enough approvers may approve. If false, Azure starts the event at NotBefore unless a deadline
   * approves it.
   */
  readonly canBeApproved: boolean;
  /** `approve` or `leave` at this time, if the event still waits; null if the wait ends only at NotBefore. */
  readonly deadline: DecisionDeadline | null;
  /** The window in which the rule approves, open or next. Null if it approves at any time, or in none before NotBefore. */
  readonly window: string | null;
  /** What happens if nobody acts. */
  readonly nextStep: NextStep;
  /** The budgets that hold the approval back at this time. */
  readonly heldBackBy: readonly string[];
  /** The rules before the one that decides, each with the conditions that the event does not meet. */
  readonly passedOver: readonly PassedRule[];
}

interface DecisionDeadline {
  /** RFC 3339. */
  readonly at: string;
  readonly then: 'approve' | 'leave';
  /**
   * Why it is `leave` although the rule has `approve`: the deadline had passed, or the rule's resources do not cover
   * every name.
   */
  readonly because: 'past' | 'resources' | null;
}

/** A decision, with what only its text says. */
export interface Judged {
  readonly decision: Decision;
  /** The rule approves in windows only, and none opens before NotBefore. */
  readonly missesWindows: boolean;
}

type Decide = (forecasted: Forecasted) => Judged;

/** Compiles the explanation once, for many decisions. */
export function compileDecision({ policy }: Pick<RulesOptions, 'policy'>, rules: RulesInForce): Decide {
  const explain = compileExplanation(policy);
  const decide = (forecasted: Forecasted): Decision => {
    const { event, atMs, governed, nextStep, heldBackBy } = forecasted;
    const facts = factsOf(event, atMs);
    const ahead = { window: governed?.opening?.window ?? null, nextStep, heldBackBy };
    if (governed === null) return { ...facts, policy: null, then: null, ...NO_WAIT, ...ahead, passedOver: [] };
    const { ruling } = governed;
    const { passedOver, decisive } = explain(event, governed.since.wallMs);
    const decided = { ...facts, policy: ruling.policy, then: ruling.then, ...NO_WAIT, ...ahead, passedOver };
    if (ruling.then !== 'wait') return decided;
    const { waitingFor } = quorumOf(rules, ruling, event, []);
    const canBeApproved = quorumOf(rules, ruling, event, waitingFor).isFull;
    const isUncovered = decisive?.deadline?.then === 'approve' && ruling.deadline?.then === 'leave';
    return {
      ...decided,
      required: ruling.required,
      waitingFor,
      canBeApproved,
      deadline: deadlineOf(ruling, forecasted, isUncovered),
    };
  };
  return (forecasted) => {
    const { matched, opening } = forecasted.governed ?? {};
    return { decision: decide(forecasted), missesWindows: (matched?.during.length ?? 0) > 0 && opening === null };
  };
}

const NO_WAIT = { required: null, waitingFor: [], canBeApproved: false, deadline: null } as const;

function factsOf(event: ScheduledEvent, nowMs: number) {
  const { eventId, eventType, eventStatus, eventSource, resources, notBefore, durationInSeconds } = event;
  return {
    at: toRfc3339Seconds(nowMs),
    eventId,
    eventType,
    eventStatus,
    eventSource,
    resources,
    notBefore,
    durationInSeconds,
  };
}

/** A deadline that has passed when the bridge first sees the event leaves it to Azure (behaviour 8.6). */
function deadlineOf(
  { deadline }: PolicyDecision,
  { event: { notBefore }, atMs, isDue }: Forecasted,
  isUncovered: boolean,
): DecisionDeadline | null {
  if (deadline === null || notBefore === null) return null;
  const dueMs = Date.parse(notBefore) - deadline.beforeMs;
  const at = toRfc3339Seconds(dueMs);
  if (deadline.then === 'approve' && dueMs <= atMs && !isDue) return { at, then: 'leave', because: 'past' };
  return { at, then: deadline.then, because: isUncovered ? 'resources' : null };
}
