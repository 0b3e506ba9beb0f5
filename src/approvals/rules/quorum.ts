// `required`, scopes and votes → is the quorum full, and who is missing (behaviour 8.3). Pure.

import type { ScheduledEvent } from '../../model/events.ts';
import type { Required } from './options.ts';
import type { Policy, PolicyDecision } from './policy.ts';
import type { Scope } from './scope.ts';

export interface Quorum {
  readonly isFull: boolean;
  /** In the order of the configuration; empty once it is full. One who is required but may not approve stays in it. */
  readonly waitingFor: readonly string[];
}

/** Why this approver may not approve this event: a rule never approves it, it is none of the names that are required, or its scope does not cover it. */
export type Ineligibility = 'never' | 'unlisted' | 'scope';

/** Who may approve what, as the configuration says. */
export interface Rules {
  readonly policy: Policy;
  /** By approver's name, in the order of the configuration. */
  readonly scopes: ReadonlyMap<string, Scope>;
  /** Nothing is posted. */
  readonly dryRun: boolean;
}

type Scopes = Pick<Rules, 'scopes'>;

/** Null where `approver` may approve `event`. */
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

/** `approvers`: who said yes; the yes of one who may not approve this event as it is does not count. */
export function quorumOf(rules: Scopes, ruling: PolicyDecision, event: ScheduledEvent, approvers: readonly string[]): Quorum {
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
