// A node and a patch → the patched node, or what an API server says against it.
import { type Answered, type ConditionObject, failure, type NodeCluster, type NodeObject } from './node-cluster.ts';

const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
/** Of a label (RFC 1123, with _ and . inside), which that of a taint is. */
const LABEL_VALUE = /^(?=.{0,63}$)(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

export interface PatchRequest {
  readonly name: string;
  readonly isStatus: boolean;
  readonly contentType: string;
  readonly patch: Readonly<Record<string, unknown>>;
}

/** `spec` of a patch of the status is left as it is, and `status` of one of the node. */
export function patchNode(cluster: NodeCluster, { name, isStatus, contentType, patch }: PatchRequest): Answered {
  const node = cluster.nodes.get(name);
  if (node === undefined) return failure(404, 'NotFound', `nodes "${name}" not found`);
  if (contentType !== MERGE && contentType !== STRATEGIC)
    return failure(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');
  if (isStatus && contentType === STRATEGIC) {
    const { resourceVersion = node.metadata.resourceVersion } = (patch['metadata'] ?? {}) as {
      readonly resourceVersion?: string;
    };
    if (resourceVersion !== node.metadata.resourceVersion) return modified(name);
    cluster.touch(name, (current) => mergeConditions(current, patch));
    return { status: 200, body: cluster.node(name) };
  }
  const merged = merge(structuredClone(node), patch) as NodeObject;
  const { uid, resourceVersion } = merged.metadata;
  if (resourceVersion !== node.metadata.resourceVersion) return modified(name);
  if (uid !== node.metadata.uid)
    return failure(422, 'Invalid', `Node "${name}" is invalid: metadata.uid: field is immutable`);
  const fault = taintFault(merged);
  if (fault !== null) return failure(422, 'Invalid', `Node "${name}" is invalid: ${fault}`);
  cluster.touch(name, (current) => {
    current.metadata.annotations = merged.metadata.annotations ?? {};
    if (merged.metadata.labels !== undefined) current.metadata.labels = merged.metadata.labels;
    current.spec = merged.spec;
  });
  return { status: 200, body: cluster.node(name) };
}

function modified(name: string): Answered {
  return failure(409, 'Conflict', `Operation cannot be fulfilled on nodes "${name}": the object has been modified`);
}

/** RFC 7396. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  }
  return merged;
}

/** Conditions are merged by their type. */
function mergeConditions(node: NodeObject, patch: PatchRequest['patch']): void {
  const { conditions = [] } = (patch['status'] ?? {}) as {
    readonly conditions?: readonly (ConditionObject & { readonly $patch?: string })[];
  };
  for (const { $patch, ...condition } of conditions) {
    const current = node.status.conditions ?? [];
    const others = current.filter(({ type }) => type !== condition.type);
    const own = current.find(({ type }) => type === condition.type);
    node.status.conditions = $patch === 'delete' ? others : [...others, { ...own, ...condition }];
  }
}

function taintFault({ spec: { taints = [] } }: NodeObject): string | null {
  if (taints.some(({ value = '' }) => !LABEL_VALUE.test(value))) return 'spec.taints: a value is no valid label value';
  const keys = taints.map(({ key, effect }) => `${key} ${effect}`);
  return new Set(keys).size === keys.length ? null : 'spec.taints: taints must be unique by key and effect pair';
}
