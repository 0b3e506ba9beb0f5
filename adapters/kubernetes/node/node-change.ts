// A node and a step, or the end of an event → the changes of the node and their patches. Pure.
import { toRfc3339Seconds } from '../../../src/formats/dates.ts';
import type { KubernetesNode } from '../api/objects.ts';
import {
  ANNOTATION,
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
const CONDITION = 'ScheduledEvent';
const EFFECT = 'NoSchedule';
/** The maximum length of a label's value, and so of a taint's. */
const MOST_VALUE = 63;

/** The changes of a node in one write; absent members stay unchanged. */
export interface NodeChange {
  /** Null removes it. */
  readonly record?: PreparationRecord | null;
  readonly taints?: KubernetesNode['taints'];
  readonly unschedulable?: boolean;
}

/** Returns the record of a node; an annotation in another format counts as empty. */
export function recordOf({ annotations }: KubernetesNode): PreparationRecord {
  return readRecord(annotations[ANNOTATION]) ?? EMPTY_RECORD;
}

/**
 * Returns the change of one step, or null if nothing is left to do. It neither changes nor claims what others did
 * before.
 */
export function prepared(node: KubernetesNode, mark: Mark, event: PreparedEvent): NodeChange | null {
  const before = recordOf(node);
  const known = withEvent(before, event);
  if (mark === 'condition') return changed(before, { record: withMark(known, mark) });
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
export function preparedForGood(node: KubernetesNode, mark: Mark, event: PreparedEvent): NodeChange | null {
  const { record, ...change } = prepared(node, mark, event) ?? {};
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
  };
}

/** Returns a merge patch that fails if the node has changed since it was read. */
export function patchOf({ resourceVersion }: KubernetesNode, { record, taints, unschedulable }: NodeChange): object {
  const spec = {
    ...(taints && { taints: taints.length === 0 ? null : taints }),
    ...(unschedulable !== undefined && { unschedulable: unschedulable || null }),
  };
  return {
    metadata: {
      resourceVersion,
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

/**
 * Returns a strategic merge patch of `nodes/status`, or null if nothing changes. The patch keeps all other conditions,
 * and fails if the node has changed since it was read. Without an event, it removes the condition.
 */
export function conditionPatch(
  { conditions, resourceVersion }: KubernetesNode,
  event: PreparedEvent | undefined,
  wallMs: number,
): object | null {
  const own = conditions.find(({ type }) => type === CONDITION);
  if (event === undefined)
    return own === undefined ? null : patch(resourceVersion, { type: CONDITION, $patch: 'delete' });
  const reason = reasonOf(event.type);
  if (own?.status === 'True' && own.reason === reason) return null;
  const now = toRfc3339Seconds(wallMs);
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  return patch(resourceVersion, {
    type: CONDITION,
    status: 'True',
    reason,
    message: `${event.type || 'An event'} of Azure is scheduled or has begun`,
    ...times,
  });
}

function patch(resourceVersion: string, condition: object): object {
  return { metadata: { resourceVersion }, status: { conditions: [condition] } };
}
