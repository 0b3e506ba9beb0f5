// JSON objects of the Kubernetes API → the members that this sink uses.
import { isObject, type JsonObject, objectOf, stringOf } from '../../../src/formats/json-object.ts';

/** The API server's default of a pod's `terminationGracePeriodSeconds`. */
const DEFAULT_GRACE_SECONDS = 30;

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface KubernetesNode {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly unschedulable: boolean;
  /** Complete, with members that this program does not use. */
  readonly taints: readonly (Taint & JsonObject)[];
  readonly conditions: readonly Condition[];
  /** `azure:///subscriptions/…`, or empty. */
  readonly providerId: string;
}

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The kind of the controller that created it, or null. */
  readonly controller: string | null;
  /** The uid of the controller, or empty. */
  readonly controllerUid: string;
  /** A static pod from a file of the node, which the API server shows as a mirror. */
  readonly isMirror: boolean;
  readonly isFinished: boolean;
  readonly isTerminating: boolean;
  readonly hasEmptyDir: boolean;
  /** The time to end that its spec gives it. */
  readonly graceSeconds: number;
}

/** Returns null if the object is not a node. */
export function readNode(object: JsonObject): KubernetesNode | null {
  const metadata = objectOf(object['metadata']);
  const spec = objectOf(object['spec']);
  const { name, uid, resourceVersion } = metadata;
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string') return null;
  return {
    name,
    uid,
    resourceVersion,
    annotations: texts(metadata['annotations']),
    labels: texts(metadata['labels']),
    unschedulable: spec['unschedulable'] === true,
    taints: objects(spec['taints']).map((taint) => ({
      ...taint,
      key: stringOf(taint['key']),
      effect: stringOf(taint['effect']),
    })),
    conditions: objects(objectOf(object['status'])['conditions']).map(({ type, status, reason, message }) => ({
      type: stringOf(type),
      status: stringOf(status),
      reason: stringOf(reason),
      message: stringOf(message),
    })),
    providerId: stringOf(spec['providerID']),
  };
}

/** Returns null if the object is not a list of pods. */
export function readPods(object: JsonObject): { readonly pods: readonly Pod[]; readonly next: string } | null {
  if (!Array.isArray(object['items'])) return null;
  return { pods: objects(object['items']).map(readPod), next: stringOf(objectOf(object['metadata'])['continue']) };
}

function readPod(object: JsonObject): Pod {
  const metadata = objectOf(object['metadata']);
  const { volumes, terminationGracePeriodSeconds: grace } = objectOf(object['spec']);
  const owner = objects(metadata['ownerReferences']).find(({ controller }) => controller === true);
  return {
    namespace: stringOf(metadata['namespace']),
    name: stringOf(metadata['name']),
    uid: stringOf(metadata['uid']),
    controller: owner === undefined ? null : stringOf(owner['kind']),
    controllerUid: stringOf(owner?.['uid']),
    isMirror: objectOf(metadata['annotations'])['kubernetes.io/config.mirror'] !== undefined,
    isFinished: ['Succeeded', 'Failed'].includes(stringOf(objectOf(object['status'])['phase'])),
    isTerminating: metadata['deletionTimestamp'] !== undefined,
    hasEmptyDir: objects(volumes).some(({ emptyDir }) => emptyDir !== undefined),
    graceSeconds: typeof grace === 'number' ? grace : DEFAULT_GRACE_SECONDS,
  };
}

function texts(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([key, text]) => [
      key,
      typeof text === 'object' ? JSON.stringify(text) : String(text),
    ]),
  );
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
