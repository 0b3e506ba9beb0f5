// A sink's `filter` and `publish.resources` → whether a change goes out (behaviour 2.6 to 2.8).
import { eventMatchers } from '../conditions/matchers.ts';
import { changeName } from '../model/change-names.ts';
import { affects } from '../model/content.ts';
import type { Change } from '../model/events.ts';
import type { SinkFilter } from './options.ts';

export interface FilterFacts {
  /** Whether the sink was sent a change of the same occurrence before: then `changes` alone can keep this one from it. */
  readonly sentBefore: boolean;
  /** Wall time. */
  readonly nowMs: number;
}

/** A filter made ready. */
export type Wants = (change: Change, facts: FilterFacts) => boolean;

/**
 * Makes a filter ready to be asked often. `source.*` are judged by `changes` alone, approvals by their event: one for an event that nobody
 * knows passes where the filter asks nothing of events.
 */
export function compileFilter({ changes: wanted, ...conditions }: SinkFilter): Wants {
  const changes = wanted && new Set(wanted);
  const matchers = eventMatchers(conditions, 'any');
  return (change, { sentBefore, nowMs }) => {
    if (changes && !changes.has(changeName(change))) return false;
    if (change.kind === 'sight' || sentBefore) return true;
    const { event } = change;
    return matchers.every((matcher) => event !== null && matcher.matches(event, nowMs));
  };
}

/**
 * `publish.resources`: `own` lets pass the events that name this VM, without case, or named it earlier in this occurrence (`namedBefore`);
 * all of them while the VM's own name is unknown; `source.*` always.
 */
export function publishes(
  mode: 'all' | 'own',
  change: Change,
  { ownName, namedBefore }: { readonly ownName: string | null; readonly namedBefore: boolean },
): boolean {
  if (mode === 'all' || change.kind === 'sight' || ownName === null || namedBefore) return true;
  return change.event !== null && affects(change.event, ownName);
}
