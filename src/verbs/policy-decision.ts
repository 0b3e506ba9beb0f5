// `policy test`: approvals' configuration and an event → the decision, its rule, time and reason.
import { compileExplanation, type PassedRule } from '../approvals/rules/explain.ts';
import type { PolicyOptions, Required, ScopeOptions } from '../approvals/rules/options.ts';
import { compilePolicy, type PolicyDecision } from '../approvals/rules/policy.ts';
import { quorumOf } from '../approvals/rules/quorum.ts';
import { compileScope } from '../approvals/rules/scope.ts';
import { toRfc3339Seconds } from '../formats/dates.ts';
import type { ScheduledEvent } from '../model/events.ts';

/** The part of `approvals` that the decision depends on. */
export interface DecisionOptions {
  readonly policy: PolicyOptions | null;
  readonly required: Required;
  /** By name, in the order of the configuration. */
  readonly approvers: Readonly<Record<string, { readonly scope: ScopeOptions }>>;
}

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
  /** For a wait: whether enough approvers may approve. If false, Azure starts the event at NotBefore unless a deadline approves it. */
  readonly canBeApproved: boolean;
  /** `approve` or `leave` at this time, if the event still waits; null if the wait ends only at NotBefore. */
  readonly deadline: DecisionDeadline | null;
  /** The rules before the one that decides, each with the conditions that the event does not meet. */
  readonly passedOver: readonly PassedRule[];
}

export interface DecisionDeadline {
  /** RFC 3339. */
  readonly at: string;
  readonly then: 'approve' | 'leave';
  /** Why it is `leave` although the rule has `approve`: the deadline had passed, or the rule's resources do not cover every name. */
  readonly because: 'past' | 'resources' | null;
}

export type Decide = (event: ScheduledEvent, nowMs: number) => Decision;

/** Compiles the configuration once, for many decisions. */
export function compileDecision({ policy, required, approvers }: DecisionOptions): Decide {
  const rule = compilePolicy(policy, required);
  const explain = compileExplanation(policy);
  const scopes = new Map(Object.entries(approvers).map(([name, { scope }]) => [name, compileScope(scope)]));
  return (event, nowMs) => {
    const facts = factsOf(event, nowMs);
    if (event.eventStatus === 'Started') return { ...facts, policy: null, then: null, ...NO_WAIT, passedOver: [] };
    const ruling = rule(event, nowMs);
    const { passedOver, decisive } = explain(event, nowMs);
    const decided = { ...facts, policy: ruling.policy, then: ruling.then, ...NO_WAIT, passedOver };
    if (ruling.then !== 'wait') return decided;
    const { waitingFor } = quorumOf({ scopes }, ruling, event, []);
    const canBeApproved = quorumOf({ scopes }, ruling, event, waitingFor).isFull;
    const isUncovered = decisive?.deadline?.then === 'approve' && ruling.deadline?.then === 'leave';
    return { ...decided, required: ruling.required, waitingFor, canBeApproved, deadline: deadlineOf(ruling, event, nowMs, isUncovered) };
  };
}

const NO_WAIT = { required: null, waitingFor: [], canBeApproved: false, deadline: null } as const;

function factsOf(event: ScheduledEvent, nowMs: number) {
  const { eventId, eventType, eventStatus, eventSource, resources, notBefore, durationInSeconds } = event;
  return { at: toRfc3339Seconds(nowMs), eventId, eventType, eventStatus, eventSource, resources, notBefore, durationInSeconds };
}

/** A deadline that has passed when the bridge first sees the event leaves it to Azure (behaviour 8.6). */
function deadlineOf(
  { deadline }: PolicyDecision,
  { notBefore }: ScheduledEvent,
  nowMs: number,
  isUncovered: boolean,
): DecisionDeadline | null {
  if (deadline === null || notBefore === null) return null;
  const dueMs = Date.parse(notBefore) - deadline.beforeMs;
  const at = toRfc3339Seconds(dueMs);
  if (deadline.then === 'approve' && dueMs <= nowMs) return { at, then: 'leave', because: 'past' };
  return { at, then: deadline.then, because: isUncovered ? 'resources' : null };
}
