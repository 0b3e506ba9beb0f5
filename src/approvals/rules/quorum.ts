// `required`, scopes and votes → if the quorum is full, and who is missing (behaviour 8.3). Pure.

import type { ScheduledEvent } from '../../model/events.ts';
import type { Allotment } from './budgets.ts';
import type { Required } from './options.ts';
import type { Policy, PolicyDecision } from './policy.ts';
import type { Scope } from './scope.ts';
import type { Calendar } from './windows.ts';

export interface Quorum {
  readonly isFull: boolean;
  /**
   * In the order of the configuration; empty when the quorum is full. Includes required approvers who may not approve
   * the event.
   */
  readonly waitingFor: readonly string[];
}

/**
 * Why an approver may not approve an event: a rule forbids it, the required list has other names, or the scope does not
 * cover it.
 */
type Ineligibility = 'never' | 'unlisted' | 'scope';

export interface Rules {
  readonly policy: Policy;
  readonly calendar: Calendar;
  readonly allotment: Allotment;
  /** By the name of the approver, in the order of the configuration. */
  readonly scopes: ReadonlyMap<string, Scope>;
  /** Decisions are made but not posted. */
  readonly dryRun: boolean;
}

type Scopes = Pick<Rules, 'scopes'>;

/** Returns why `approver` may not approve `event`, or null if it may. */
export function ineligibilityOf(
  { scopes }: Scopes,
  { then, required }: PolicyDecision,
  approver: string,
  event: ScheduledEvent,
): Ineligibility | null {
  if (then === 'never') return 'never';
  if (typeof required === 'object' && !required.includes(approver)) return 'unlisted';
  return scopes.get(approver)?.allows(event) ? null : 'scope';
}

/**
 * Returns whether the quorum is full and who is missing.
 * @param approvers those who approved; an approver who may not approve the event in its current state does not count
 */
export function quorumOf(
  rules: Scopes,
  ruling: PolicyDecision,
  event: ScheduledEvent,
  approvers: readonly string[],
): Quorum {
  const { required } = ruling;
  const yes = new Set(approvers.filter((name) => ineligibilityOf(rules, ruling, name, event) === null));
  const missing = candidatesOf(rules, ruling, event).filter((name) => !yes.has(name));
  const isFull = yes.size > 0 && (isCount(required) ? yes.size >= countOf(required) : missing.length === 0);
  return { isFull, waitingFor: isFull ? [] : missing };
}

function candidatesOf(rules: Scopes, ruling: PolicyDecision, event: ScheduledEvent): readonly string[] {
  const { required } = ruling;
  if (ruling.then === 'never') return [];
  if (typeof required === 'object') return required;
  const names = [...rules.scopes.keys()];
  return isCount(required)
    ? names.filter((name) => ineligibilityOf(rules, ruling, name, event) === null)
    : names.filter((name) => rules.scopes.get(name)?.touches(event));
}

function isCount(required: Required): required is 'any' | number {
  return required === 'any' || typeof required === 'number';
}

function countOf(required: 'any' | number): number {
  return required === 'any' ? 1 : required;
}
