// Pods on a node, and answers to their evictions → texts with disruption budgets. Pure.
import { isObject, type JsonObject, objectOf, stringOf } from '../../src/formats/json-object.ts';
import type { Pod } from './api/objects.ts';

/** A pod that is still on the node. */
export interface PodLeft {
  readonly pod: Pod;
  /** The last status of its eviction; null if it was accepted or not requested. */
  readonly status: number | null;
  /** The name of the PodDisruptionBudget that forbids the eviction, or null. */
  readonly budget: string | null;
}

/** `web/db-0 (429, disruption budget web/db-pdb)`. */
export function podText({ pod, status, budget }: PodLeft): string {
  const forbidden = budget === null ? '' : `, disruption budget ${pod.namespace}/${budget}`;
  const state = status !== null ? ` (${status}${forbidden})` : pod.isTerminating ? ' (terminating)' : '';
  return `${pod.namespace}/${pod.name}${state}`;
}

/** Returns what a drain waits for, a refused eviction first, or null. */
export function waitText(left: readonly PodLeft[]): string | null {
  const first = left.find(({ status }) => status !== null) ?? left[0];
  if (first === undefined) return null;
  return `${podText(first)}${left.length > 1 ? ` and ${left.length - 1} more` : ''}`;
}

/** Returns the name of the budget of a refused eviction, from the causes in the answer, or null. */
export function budgetOf(body: JsonObject | null): string | null {
  const cause = causesIn(body).find(({ reason }) => reason === 'DisruptionBudget');
  return /^The disruption budget (\S+) /.exec(stringOf(cause?.['message']))?.[1] ?? null;
}

/** Returns whether the namespace is being deleted, which also ends the pod. */
export function isNamespaceEnding(body: JsonObject | null): boolean {
  return causesIn(body).some(({ reason }) => reason === 'NamespaceTerminating');
}

function causesIn(body: JsonObject | null): readonly JsonObject[] {
  const causes = objectOf(body?.['details'])['causes'];
  return Array.isArray(causes) ? causes.filter(isObject) : [];
}
