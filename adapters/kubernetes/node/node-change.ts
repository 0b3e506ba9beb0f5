// A node and a step, or the end of an event → the changes of the node and their patches. Pure.
import { toRfc3339Seconds } from '../../../src/formats/dates.ts';
import type { Condition, KubernetesNode } from '../api/objects.ts';
import {
  ANNOTATION,
  type ClaimedCondition,
  EMPTY_RECORD,
  type Mark,
  type PreparationRecord,
  type PreparedEvent,
  readRecord,
  withEvent,
  withMark,
  withoutEvent,
  writeRecord,
} from './record.ts';

const TAINT_KEY = 'scheduled-events-bridge.github.io/maintenance';
const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers';
const EFFECT = 'NoSchedule';
/** The maximum length of a label's value, and so of a taint's. */
const MOST_VALUE = 63;

/** The changes of a node in one write; absent members stay unchanged. */
export interface NodeChange {
  /** Null removes it. */
  readonly record?: PreparationRecord | null;
  readonly taints?: KubernetesNode['taints'];
  readonly unschedulable?: boolean;
  /** Null removes a label. */
  readonly labels?: Readonly<Record<string, string | null>>;
}

/** Returns the record of a node; an annotation in another format counts as empty. */
export function recordOf({ annotations }: KubernetesNode): PreparationRecord {
  return readRecord(annotations[ANNOTATION]) ?? EMPTY_RECORD;
}

/**
 * Returns the change of one step, or null if nothing is left to do. It neither changes nor claims what others did
 * before.
 */
export function prepared(
  node: KubernetesNode,
  mark: Mark,
  event: PreparedEvent,
  conditions: readonly string[],
): NodeChange | null {
  const before = recordOf(node);
  const known = withEvent(before, event);
  if (mark === 'condition') return changed(before, { record: withConditions(known, node, conditions) });
  if (mark === 'loadBalancers')
    return node.labels[EXCLUDED] !== undefined
      ? changed(before, { record: known })
      : { record: withMark(known, mark), labels: { [EXCLUDED]: 'true' } };
  if (mark === 'cordon')
    return node.unschedulable
      ? changed(before, { record: known })
      : { record: withMark(known, mark), unschedulable: true };
  const own = node.taints.find(isOwn);
  if (own !== undefined && !before.did.includes('taint')) return changed(before, { record: known });
  if (own?.value === taintValue(event.type)) return changed(before, { record: known });
  return {
    record: withMark(known, mark),
    taints: [...node.taints.filter((taint) => !isOwn(taint)), taintOf(event.type)],
  };
}

/** Returns the change without a record, if the sink will not undo it. */
export function preparedForGood(...given: Parameters<typeof prepared>): NodeChange | null {
  const { record, ...change } = prepared(...given) ?? {};
  return Object.keys(change).length === 0 ? null : change;
}

/**
 * Returns the change at the end of an event, or null if the node was not prepared for it. Steps that another event
 * still needs stay.
 */
export function restored(node: KubernetesNode, key: string): NodeChange | null {
  const before = recordOf(node);
  if (!before.events.some((event) => event.key === key)) return null;
  const record = withoutEvent(before, key);
  const last = record.events.at(-1);
  const others = node.taints.filter((taint) => !isOwn(taint));
  const isOurs = before.did.includes('taint') && others.length < node.taints.length;
  if (last !== undefined) return { record, ...(isOurs && { taints: [...others, taintOf(last.type)] }) };
  return {
    record: null,
    ...(isOurs && { taints: others }),
    ...(before.did.includes('cordon') && { unschedulable: false }),
    ...(before.did.includes('loadBalancers') && { labels: { [EXCLUDED]: null } }),
  };
}

/** Returns a merge patch that fails if the node has changed since it was read. */
export function patchOf(
  { resourceVersion }: KubernetesNode,
  { record, taints, unschedulable, labels }: NodeChange,
): object {
  const spec = {
    ...(taints && { taints: taints.length === 0 ? null : taints }),
    ...(unschedulable !== undefined && { unschedulable: unschedulable || null }),
  };
  return {
    metadata: {
      resourceVersion,
      ...(labels && { labels }),
      ...(record !== undefined && { annotations: { [ANNOTATION]: record === null ? null : writeRecord(record) } }),
    },
    ...(Object.keys(spec).length > 0 && { spec }),
  };
}

/** Returns an EventType in the format of reasons of conditions and Events. */
export function reasonOf(type: string): string {
  const letters = type.replace(/[^A-Za-z0-9_]/g, '').slice(0, MOST_VALUE);
  return /^[A-Za-z]/.test(letters) ? letters : `Event${letters}`;
}

/** Claims the conditions that no other program has set to True. */
function withConditions(
  record: PreparationRecord,
  { conditions }: KubernetesNode,
  types: readonly string[],
): PreparationRecord {
  const added = types.flatMap((type): ClaimedCondition[] => {
    const current = conditions.find((each) => each.type === type);
    if (record.conditions.some((each) => each.type === type) || current?.status === 'True') return [];
    const { status, reason, message } = current ?? {};
    return [{ type, before: current === undefined ? null : ({ status, reason, message } as Condition) }];
  });
  const claimed = [...record.conditions, ...added];
  return claimed.length === 0 ? record : { ...withMark(record, 'condition'), conditions: claimed };
}

function changed(before: PreparationRecord, change: { readonly record: PreparationRecord }): NodeChange | null {
  return writeRecord(before) === writeRecord(change.record) ? null : change;
}

function isOwn({ key, effect }: { readonly key: string; readonly effect: string }): boolean {
  return key === TAINT_KEY && effect === EFFECT;
}

function taintOf(type: string): KubernetesNode['taints'][number] {
  return { key: TAINT_KEY, value: taintValue(type), effect: EFFECT };
}

/** Returns a text that starts and ends with a letter or digit, as values of labels must. */
function taintValue(type: string): string {
  return type
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .slice(0, MOST_VALUE)
    .replace(/^[^A-Za-z0-9]+|(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/g, '');
}

interface ConditionWish {
  readonly claimed: readonly ClaimedCondition[];
  /** Undefined: the conditions are undone. */
  readonly event: PreparedEvent | undefined;
  /** The events whose types a condition of the sink may show. */
  readonly events: readonly PreparedEvent[];
}

/**
 * Returns a strategic merge patch of `nodes/status`, or null if nothing changes. The patch keeps all other conditions,
 * and fails if the node has changed since it was read.
 */
export function conditionPatch(node: KubernetesNode, wish: ConditionWish, wallMs: number): object | null {
  const now = toRfc3339Seconds(wallMs);
  const conditions = wish.claimed.flatMap((claim) => {
    const own = node.conditions.find(({ type }) => type === claim.type);
    const state = wish.event === undefined ? undone(claim, own, wish) : shown(wish.event, own);
    const times = { lastHeartbeatTime: now, lastTransitionTime: now };
    return state === null ? [] : [{ type: claim.type, ...state, ...('status' in state && times) }];
  });
  return conditions.length === 0
    ? null
    : { metadata: { resourceVersion: node.resourceVersion }, status: { conditions } };
}

function shown({ type }: PreparedEvent, own: Condition | undefined): object | null {
  const reason = reasonOf(type);
  if (own?.status === 'True' && own.reason === reason) return null;
  return { status: 'True', reason, message: `${type || 'An event'} of Azure is scheduled or has begun` };
}

/** A condition that another program has changed since then stays. */
function undone({ before }: ClaimedCondition, own: Condition | undefined, { events }: ConditionWish): object | null {
  if (own === undefined) return null;
  if (before === null) return { $patch: 'delete' };
  return own.status === 'True' && events.some(({ type }) => reasonOf(type) === own.reason) ? before : null;
}
