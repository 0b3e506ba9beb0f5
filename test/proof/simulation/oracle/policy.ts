// The configuration in force and an event → what decides about its approval, by section 8.
import type { ApprovalSettings, ApproverSettings, BudgetSettings, RuleSettings, WindowSettings } from '../history.ts';
import { anyName, everyName, isAmong, type Judged, meets } from './filter.ts';
import type { ListedEvent } from './listed-event.ts';

const DOCUMENTATION: readonly RuleSettings[] = [
  { when: { initiators: ['User'] }, then: 'approve' },
  { when: { impacts: ['Freeze'], duration: { min: '0s', below: '9s' } }, then: 'approve' },
];

export interface Ruling {
  readonly then: RuleSettings['then'];
  readonly required: ApprovalSettings['required'];
  /** So long before NotBefore the event is approved; null: it is not. */
  readonly approvedBeforeMs: number | null;
  /** It approves only in one of these; null: at any time. */
  readonly during: readonly WindowSettings[] | null;
  /** If none of them opens in time, it waits for approvers. */
  readonly otherwiseWaits: boolean;
  /** Its own approvals, and those of its deadline, stay within these. */
  readonly budgets: readonly BudgetSettings[];
}

function judged({ EventType, EventSource, Resources }: ListedEvent): Judged {
  return { eventType: EventType, eventSource: EventSource, resources: Resources };
}

/** The first rule that matches; without one, the event waits. */
export function rulingOf({ policy, required, windows, budgets }: ApprovalSettings, event: ListedEvent): Ruling {
  const rules = policy === 'documentation' ? DOCUMENTATION : policy;
  const none = { during: null, otherwiseWaits: false, budgets: [] };
  const waiting: Ruling = { then: 'wait', required, approvedBeforeMs: null, ...none };
  if (event.EventType.toLowerCase() === 'spotrebalancerecommendation') return { ...waiting, then: 'never' };
  const rule = rules.find(({ when, then: verdict }) => {
    const { duration, ...conditions } = when;
    return meets(conditions, judged(event), verdict === 'approve' ? 'every' : 'any') && lasts(event, duration);
  });
  if (rule === undefined) return waiting;
  const { deadline, when } = rule;
  // An approval is for every machine that the event names.
  const isOfAll = when.resources === undefined || everyName(when.resources, event.Resources);
  return {
    then: rule.then,
    required: rule.required ?? required,
    approvedBeforeMs: deadline?.then === 'approve' && isOfAll ? secondsOf(deadline.before) * 1000 : null,
    during: rule.during === undefined ? null : rule.during.flatMap((name) => windows?.[name] ?? []),
    otherwiseWaits: rule.otherwise === 'wait',
    budgets: (rule.budgets ?? []).flatMap((name) => budgets?.[name] ?? []),
  };
}

function lasts({ DurationInSeconds }: ListedEvent, duration: RuleSettings['when']['duration']): boolean {
  if (duration === undefined) return true;
  return (
    DurationInSeconds >= secondsOf(duration.min) &&
    DurationInSeconds >= 0 &&
    DurationInSeconds < secondsOf(duration.below)
  );
}

export function secondsOf(duration: string): number {
  return Number.parseInt(duration, 10);
}

/** Whether these voters, as far as they still may, are all that is required. */
export function isQuorum(
  { approvers }: ApprovalSettings,
  { required }: Ruling,
  event: ListedEvent,
  voters: readonly string[],
): boolean {
  const may = (name: string) => {
    const approver = approvers[name];
    return approver !== undefined && (!Array.isArray(required) || required.includes(name)) && allows(approver, event);
  };
  const yes = [...new Set(voters)].filter(may);
  if (yes.length === 0) return false;
  if (required === 'any') return true;
  if (typeof required === 'number') return yes.length >= required;
  const all =
    required === 'all'
      ? Object.keys(approvers).filter((name) => touches(approvers[name] as ApproverSettings, event))
      : (required as readonly string[]);
  return all.every((name) => yes.includes(name));
}

function allows({ scope }: ApproverSettings, event: ListedEvent): boolean {
  return (
    isAmong(scope?.impacts, event.EventType) &&
    (scope?.resources === undefined || everyName(scope.resources, event.Resources))
  );
}

function touches({ scope }: ApproverSettings, event: ListedEvent): boolean {
  return (
    isAmong(scope?.impacts, event.EventType) &&
    (scope?.resources === undefined || anyName(scope.resources, event.Resources))
  );
}

/** 0 for the first one of those that the event names; null for a machine that it does not name. */
export function rankOf(event: ListedEvent, name: string): number | null {
  const order = [...new Set(event.Resources.map((each) => each.toLowerCase()))].sort();
  const rank = order.indexOf(name.toLowerCase());
  return rank === -1 ? null : rank;
}
