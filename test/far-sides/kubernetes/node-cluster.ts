// Nodes, pods and budgets in memory → what an API server keeps of them, by its own rules.

export interface Meta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  deletionTimestamp?: string;
  ownerReferences?: readonly { readonly kind: string; readonly controller?: boolean; readonly uid?: string }[];
}

export interface NodeObject {
  apiVersion: 'v1';
  kind: 'Node';
  metadata: Meta;
  spec: { providerID?: string; unschedulable?: boolean; taints?: readonly TaintObject[] };
  status: { conditions?: ConditionObject[] };
}

export interface TaintObject {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface ConditionObject {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface PodObject {
  metadata: Meta;
  spec: { nodeName: string; volumes?: readonly object[]; terminationGracePeriodSeconds: number };
  status: { phase: string };
}

export interface PodWish {
  readonly name: string;
  readonly namespace?: string;
  readonly node?: string;
  /** The kind of its controller; null: none. */
  readonly owner?: string | null;
  readonly ownerUid?: string;
  readonly isMirror?: boolean;
  readonly phase?: string;
  readonly hasEmptyDir?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  /** Seconds, in its spec. */
  readonly grace?: number;
}

/** What an API server answers, a Status where it is no object. */
export interface Answered {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer as of k8s.io/apimachinery's `Status`. */
export function failure(status: number, reason: string, message: string, details: object = {}): Answered {
  return {
    status,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code: status },
  };
}

export class NodeCluster {
  readonly nodes = new Map<string, NodeObject>();
  readonly pods = new Map<string, PodObject>();
  /** By namespace and name. */
  readonly events = new Map<string, object>();
  /** Names of pods that a budget protects. */
  readonly protectedPods = new Set<string>();
  /** Whether evicted pods end at once, as with a kubelet that is quick. */
  podsEnd = true;
  /** Seconds that an eviction was asked to give, by the pod's name. */
  readonly graces = new Map<string, number | undefined>();
  #counter = 100;

  addNode(name: string, spec: NodeObject['spec'] = {}): NodeObject {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }];
    const node: NodeObject = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: this.#meta(name),
      spec,
      status: { conditions },
    };
    this.nodes.set(name, node);
    return node;
  }

  node(name: string): NodeObject {
    const node = this.nodes.get(name);
    if (node === undefined) throw new RangeError(`no node ${name}`);
    return node;
  }

  addPod(wish: PodWish): PodObject {
    const {
      name,
      namespace = 'default',
      node = 'node-1',
      owner = 'ReplicaSet',
      isMirror = false,
      phase = 'Running',
      hasEmptyDir,
      ownerUid,
      labels = {},
      grace = 30,
    } = wish;
    const metadata: Meta = {
      ...this.#meta(name),
      namespace,
      labels: { ...labels },
      ...(owner !== null && {
        ownerReferences: [{ kind: owner, controller: true, ...(ownerUid && { uid: ownerUid }) }],
      }),
      ...(isMirror && { annotations: { 'kubernetes.io/config.mirror': 'hash' } }),
    };
    const pod = {
      metadata,
      spec: {
        nodeName: node,
        terminationGracePeriodSeconds: grace,
        ...(hasEmptyDir && { volumes: [{ name: 'tmp', emptyDir: {} }] }),
      },
      status: { phase },
    };
    this.pods.set(`${namespace}/${name}`, pod);
    return pod;
  }

  /** What kubelet does when the containers have ended. */
  endPods(): void {
    for (const [key, { metadata }] of this.pods) if (metadata.deletionTimestamp !== undefined) this.pods.delete(key);
  }

  /** A person or controller writes the node. */
  touch(name: string, change: (node: NodeObject) => void): void {
    const node = this.node(name);
    change(node);
    node.metadata.resourceVersion = String(++this.#counter);
  }

  /** @param selector of labels: `name=value` or nothing */
  listPods(node: string, limit: number, from: string, selector = ''): Answered {
    const [label = '', value] = selector.split('=');
    const found = [...this.pods.values()].filter(
      ({ spec, metadata }) => spec.nodeName === node && (label === '' || metadata.labels?.[label] === value),
    );
    const start = Number(from || 0);
    const items = found.slice(start, start + limit);
    const more = start + limit < found.length ? { continue: String(start + limit) } : {};
    return {
      status: 200,
      body: { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1', ...more }, items },
    };
  }

  createEvent(namespace: string, event: { readonly metadata: { readonly name: string } }): Answered {
    const key = `${namespace}/${event.metadata.name}`;
    if (this.events.has(key)) return failure(409, 'AlreadyExists', `events "${event.metadata.name}" already exists`);
    this.events.set(key, event);
    return { status: 201, body: event };
  }

  evict(
    key: string,
    deleteOptions: { readonly gracePeriodSeconds?: number; readonly preconditions?: { readonly uid?: string } },
  ): Answered {
    const pod = this.pods.get(key);
    if (pod === undefined) return failure(404, 'NotFound', `pods "${key}" not found`);
    const uid = deleteOptions.preconditions?.uid;
    if (uid !== undefined && uid !== pod.metadata.uid)
      return failure(409, 'Conflict', 'the UID in the precondition does not match');
    if (this.protectedPods.has(pod.metadata.name)) {
      const causes = [
        {
          reason: 'DisruptionBudget',
          message: 'The disruption budget web-pdb needs 1 healthy pods and has 1 currently',
        },
      ];
      return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
        causes,
      });
    }
    this.graces.set(pod.metadata.name, deleteOptions.gracePeriodSeconds);
    pod.metadata.deletionTimestamp = '2026-01-01T00:00:30Z';
    if (this.podsEnd) this.pods.delete(key);
    return { status: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
  }

  #meta(name: string): Meta {
    this.#counter += 1;
    return { name, uid: `uid-${this.#counter}`, resourceVersion: String(this.#counter) };
  }
}
