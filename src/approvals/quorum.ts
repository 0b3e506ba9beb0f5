// What is required, the approvers' scopes and who said yes → is the quorum full, and who is waited for (contract, section 8). Pure.
import type { ScheduledEvent } from '../model.ts';
import type { Scope } from './scope.ts';

/** Any one approver, all whose scope touches the event, so many, or all of these names. */
export type Required = 'any' | 'all' | number | readonly string[];

export interface Quorum {
  readonly isFull: boolean;
  /** In the order of the configuration; empty once it is full. One who is required but may not approve stays in it. */
  readonly waitingFor: readonly string[];
}

/** Why this approver may not approve this event: its scope does not cover it, or it is none of the names that `required` lists. */
export type Bar = 'scope' | 'forbidden';

/** Who may approve what, as the configuration says. */
export interface Rules {
  readonly required: Required;
  /** By approver's name, in the order of the configuration. */
  readonly scopes: ReadonlyMap<string, Scope>;
  /** Nothing is posted. */
  readonly dryRun: boolean;
}

/** Azure only recommends to move such a machine: there is nothing to start. */
const NEVER_APPROVED = 'spotrebalancerecommendation';

/** Null where `approver` may approve `event`. */
export function barOf({ required, scopes }: Rules, approver: string, event: ScheduledEvent): Bar | null {
  const isListed = typeof required !== 'object' || required.includes(approver);
  if (!isListed || event.eventType.toLowerCase() === NEVER_APPROVED) return 'forbidden';
  return scopes.get(approver)?.allows(event) ? null : 'scope';
}

/** `approvers`: who said yes; the yes of one who may not approve this event as it is does not count. */
export function quorumOf(rules: Rules, event: ScheduledEvent, approvers: readonly string[]): Quorum {
  const yes = new Set(approvers.filter((name) => barOf(rules, name, event) === null));
  const candidates = candidatesOf(rules, event);
  const missing = candidates.filter((name) => !yes.has(name));
  const isFull = yes.size > 0 && (isCount(rules.required) ? yes.size >= countOf(rules.required) : missing.length === 0);
  return { isFull, waitingFor: isFull ? [] : missing };
}

function candidatesOf(rules: Rules, event: ScheduledEvent): readonly string[] {
  const { required, scopes } = rules;
  if (typeof required === 'object') return required;
  const names = [...scopes.keys()];
  return isCount(required)
    ? names.filter((name) => barOf(rules, name, event) === null)
    : names.filter((name) => scopes.get(name)?.touches(event));
}

function isCount(required: Required): required is 'any' | number {
  return required === 'any' || typeof required === 'number';
}

function countOf(required: 'any' | number): number {
  return required === 'any' ? 1 : required;
}
