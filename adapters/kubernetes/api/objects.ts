// JSON objects of the Kubernetes API → the members that this sink uses.
import { isObject, type JsonObject } from '../../../src/formats/json-object.ts';

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

export interface KubernetesNode {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
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
}

/** Returns null if the object is not a node. */
export function readNode(object: JsonObject): KubernetesNode | null {
  const metadata = member(object, 'metadata');
  const spec = member(object, 'spec');
  const { name, uid, resourceVersion } = metadata;
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string') return null;
  return {
    name,
    uid,
    resourceVersion,
    annotations: Object.fromEntries(Object.entries(member(metadata, 'annotations')).map(([key, value]) => [key, String(value)])),
    unschedulable: spec['unschedulable'] === true,
    taints: objects(spec['taints']).map((taint) => ({ ...taint, key: text(taint['key']), effect: text(taint['effect']) })),
    conditions: objects(member(object, 'status')['conditions']).map(({ type, status, reason }) => ({
      type: text(type),
      status: text(status),
      reason: text(reason),
    })),
    providerId: text(spec['providerID']),
  };
}

/** Returns null if the object is not a list of pods. */
export function readPods(object: JsonObject): { readonly pods: readonly Pod[]; readonly next: string } | null {
  if (!Array.isArray(object['items'])) return null;
  return { pods: objects(object['items']).map(readPod), next: text(member(object, 'metadata')['continue']) };
}

function readPod(object: JsonObject): Pod {
  const metadata = member(object, 'metadata');
  const owner = objects(metadata['ownerReferences']).find(({ controller }) => controller === true);
  return {
    namespace: text(metadata['namespace']),
    name: text(metadata['name']),
    uid: text(metadata['uid']),
    controller: owner === undefined ? null : text(owner['kind']),
    controllerUid: text(owner?.['uid']),
    isMirror: member(metadata, 'annotations')['kubernetes.io/config.mirror'] !== undefined,
    isFinished: ['Succeeded', 'Failed'].includes(text(member(object, 'status')['phase'])),
    isTerminating: metadata['deletionTimestamp'] !== undefined,
    hasEmptyDir: objects(member(object, 'spec')['volumes']).some(({ emptyDir }) => emptyDir !== undefined),
  };
}

function member(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? value : {};
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
