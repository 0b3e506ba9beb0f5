// `policy test`: the section `approvals` and an event → a decision, as data and as lines of text.

import type { BudgetOptions } from '../approvals/rules/budgets.ts';
import { compileExplanation, type PassedRule } from '../approvals/rules/explain.ts';
import type { PolicyOptions, Required, ScopeOptions } from '../approvals/rules/options.ts';
import type { PolicyDecision } from '../approvals/rules/policy.ts';
import { quorumOf } from '../approvals/rules/quorum.ts';
import { compileScope } from '../approvals/rules/scope.ts';
import type { WindowOptions } from '../approvals/rules/windows.ts';
import { type Judged, type Outlook, PolicyPlay } from '../approvals/views/played-policy.ts';
import { toRfc3339Seconds } from '../formats/dates.ts';
import { visibleLine } from '../formats/visible-text.ts';
import type { ScheduledEvent } from '../model/events.ts';
import type { Sighting } from './policy-events.ts';

/** The part of `approvals` that the decision depends on. */
interface DecisionOptions {
  readonly policy: PolicyOptions | null;
  readonly required: Required;
  /** By name, in the order of the configuration. */
  readonly approvers: Readonly<Record<string, { readonly scope: ScopeOptions }>>;
  readonly windows: Readonly<Record<string, WindowOptions>>;
  readonly budgets: Readonly<Record<string, BudgetOptions>>;
}

/** Printed as one line of JSON. */
export interface Decision extends Outlook {
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

/** Decides about the events of each document, in order; the events of one document are judged together. */
export type Decide = (documents: Iterable<Sighting>) => readonly Decision[];

/** Compiles the configuration once, for many decisions. */
export function compileDecision({ policy, required, approvers, windows, budgets }: DecisionOptions): Decide {
  const explain = compileExplanation(policy);
  const scopes = new Map(Object.entries(approvers).map(([name, { scope }]) => [name, compileScope(scope)]));
  const decide = (event: ScheduledEvent, nowMs: number, { outlook, ruling }: Judged): Decision => {
    const facts = { ...factsOf(event, nowMs), ...outlook };
    if (ruling === null) return { ...facts, policy: null, then: null, ...NO_WAIT, passedOver: [] };
    const { passedOver, decisive } = explain(event, nowMs);
    const decided = { ...facts, policy: ruling.policy, then: ruling.then, ...NO_WAIT, passedOver };
    if (ruling.then !== 'wait') return decided;
    const { waitingFor } = quorumOf({ scopes }, ruling, event, []);
    const canBeApproved = quorumOf({ scopes }, ruling, event, waitingFor).isFull;
    const isUncovered = decisive?.deadline?.then === 'approve' && ruling.deadline?.then === 'leave';
    return {
      ...decided,
      required: ruling.required,
      waitingFor,
      canBeApproved,
      deadline: deadlineOf(ruling, event, nowMs, isUncovered),
    };
  };
  return (documents) => {
    const play = new PolicyPlay({ policy, required, approvers, windows, budgets });
    return [...documents].flatMap(({ atMs, listed, events }) => {
      const judged = play.show(listed, atMs);
      return events.flatMap((event) => {
        const found = judged.get(event.eventId);
        return found ? [decide(event, atMs, found)] : [];
      });
    });
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

/** How many machines a line names at most. */
const NAMED = 4;

/**
 * Returns for each decision a line with its time and event, then the ruling, then why no earlier rule matches. Equal
 * decisions of one time are reported once, with their number.
 */
export function reportLines(decisions: readonly Decision[]): readonly string[] {
  const groups: { readonly first: Decision; readonly text: string; count: number }[] = [];
  for (const decision of decisions) {
    const words = [eventWords(decision), rulingWords(decision), ...decision.passedOver.map(passedWords)];
    const text = words.map(visibleLine).join('\n    ');
    const last = groups.at(-1);
    if (last && last.text === text && last.first.at === decision.at) last.count++;
    else groups.push({ first: decision, text, count: 1 });
  }
  return groups.flatMap(({ first, text, count }) =>
    `  ${first.at}  ${count === 1 ? visibleLine(first.eventId) : `${count} events`}  ${text}`.split('\n'),
  );
}

function eventWords({ eventType, eventSource, resources, notBefore, durationInSeconds: seconds }: Decision): string {
  const length = seconds < 0 ? 'of unknown length' : `${seconds}s`;
  const when = notBefore === null ? 'without NotBefore' : `not before ${notBefore}`;
  return `${eventType || 'an event without type'} of ${namesOf(resources)} from ${eventSource || 'an unknown source'}, ${length}, ${when}`;
}

function namesOf(names: readonly string[]): string {
  if (names.length === 0) return 'no machine';
  const left = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (left > 0 ? ` and ${left} more` : '');
}

function rulingWords(decision: Decision): string {
  const rule = decision.policy ?? 'no rule matches';
  switch (decision.then) {
    case 'approve':
      return `${rule}: ${approvalWords(decision)}`;
    case 'wait':
      return `${rule}: wait ${waitWords(decision)}${deadlineWords(decision)}`;
    case 'never':
      return decision.policy === null
        ? 'never: the event is only advice, and there is nothing to start'
        : `${rule}: never`;
    default:
      return 'nothing to decide: the event has started';
  }
}

function approvalWords({ at, window, nextStep, heldBackBy }: Decision): string {
  const during = window === null ? '' : `, in the window ${window}`;
  if (heldBackBy.length > 0) return `approve as soon as it fits the budget ${heldBackBy.join(', ')}${during}`;
  if (nextStep.action !== 'approve')
    return nextStep.at !== null && window === null
      ? 'no window opens before NotBefore, when Azure starts it'
      : `approved already${during}`;
  const isNow = nextStep.at !== null && toRfc3339Seconds(Date.parse(nextStep.at)) === at;
  return isNow ? `approve at once${during}` : `approve at ${nextStep.at}${during}`;
}

function waitWords({ required, waitingFor, canBeApproved }: Decision): string {
  if (waitingFor.length === 0) return 'until NotBefore, when Azure starts it: no approver may approve this event';
  const names = waitingFor.join(', ');
  const isOne = waitingFor.length === 1;
  const count = required === 'any' ? 'any of ' : typeof required === 'number' ? `${required} of ` : 'all of ';
  const who = isOne && typeof required !== 'number' ? names : `${count}${names}`;
  return canBeApproved
    ? `for ${who}`
    : `for ${who}, but too few approvers may approve this event: Azure starts it at NotBefore`;
}

function deadlineWords({ deadline }: Decision): string {
  if (deadline === null) return '';
  const { at, then, because } = deadline;
  if (because === 'past') return `; its deadline ${at} has passed, so the event is left to Azure`;
  if (because === 'resources')
    return `; at ${at} it is left to Azure, because the rule's resources do not cover every machine`;
  return then === 'approve' ? `; approve at ${at} if it is still waiting` : `; at ${at} it is left to Azure`;
}

function passedWords({ rule, index, unmet }: PassedRule): string {
  const name = rule === 'documentation' ? `${rule} (its rule ${index + 1})` : rule;
  return `not ${name}: ${unmet.map(({ because }) => because).join('; ')}`;
}
