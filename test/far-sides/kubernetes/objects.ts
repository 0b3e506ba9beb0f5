// An API server of the tests → Nodes, Pods, budgets, and what kubelets and controllers do to them.
import type { ApiServer, KubernetesObject } from './api-server.ts';

export interface PodOptions {
  readonly namespace?: string;
  readonly node: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** As `{ kind: 'DaemonSet', name: 'agent' }`: whom it belongs to. */
  readonly owner?: { readonly kind: string; readonly name: string };
  /** With more than 0 an evicted Pod stays, marked as being deleted, until `endPod`. */
  readonly gracePeriodSeconds?: number;
}

const podPath = (name: string, namespace: string) => `/api/v1/namespaces/${namespace}/pods/${name}`;

/** A Node as a kubelet that is well makes it: ready, and without the taint of a new one. */
export async function makeNode(
  server: ApiServer,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const metadata = { name, labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': name, ...labels } };
  await server.must('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata });
  const now = new Date().toISOString();
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  await server.must(
    'PATCH',
    `/api/v1/nodes/${name}/status`,
    { status: { conditions: [condition] } },
    { patch: 'strategic-merge-patch' },
  );
  await server.must('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } });
}

export async function nodeOf(server: ApiServer, name: string): Promise<KubernetesObject> {
  return await server.must('GET', `/api/v1/nodes/${name}`);
}

/** A Pod that runs on its Node. */
export async function makePod(server: ApiServer, name: string, options: PodOptions): Promise<void> {
  const { namespace = 'default', node, labels = {}, annotations = {}, owner, gracePeriodSeconds = 0 } = options;
  const ownerReferences = owner
    ? [{ apiVersion: 'apps/v1', ...owner, uid: '0f0f0f0f-0000-4000-8000-000000000000', controller: true }]
    : [];
  const spec = {
    nodeName: node,
    terminationGracePeriodSeconds: gracePeriodSeconds,
    containers: [{ name: 'main', image: 'none' }],
  };
  const metadata = { name, labels, annotations, ownerReferences };
  await server.must('POST', `/api/v1/namespaces/${namespace}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await server.must('PATCH', `${podPath(name, namespace)}/status`, { status }, { patch: 'strategic-merge-patch' });
}

/** What its kubelet does once the containers have ended. */
export async function endPod(server: ApiServer, name: string, namespace = 'default'): Promise<void> {
  await server.must('DELETE', `${podPath(name, namespace)}?gracePeriodSeconds=0`);
}

/** `gone`, `ending` (marked as being deleted) or `there`. */
export async function stateOfPod(
  server: ApiServer,
  name: string,
  namespace = 'default',
): Promise<'gone' | 'ending' | 'there'> {
  const { status, body } = await server.ask('GET', podPath(name, namespace));
  if (status === 404) return 'gone';
  return (body['metadata'] as KubernetesObject)['deletionTimestamp'] === undefined ? 'there' : 'ending';
}

/**
 * A PodDisruptionBudget for those labels; `allowDisruptions` tells how many evictions it lets through, at first none.
 */
export async function makeBudget(
  server: ApiServer,
  name: string,
  matchLabels: Readonly<Record<string, string>>,
  namespace = 'default',
): Promise<void> {
  const body = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { minAvailable: 1, selector: { matchLabels } },
  };
  await server.must('POST', `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`, body);
  await allowDisruptions(server, name, 0, namespace);
}

/** What the disruption controller works out from the Pods: each eviction takes one off. */
export async function allowDisruptions(
  server: ApiServer,
  name: string,
  count: number,
  namespace = 'default',
): Promise<void> {
  const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${name}`;
  const { metadata } = (await server.must('GET', path)) as { readonly metadata: { readonly generation: number } };
  const status = {
    disruptionsAllowed: count,
    currentHealthy: count + 1,
    desiredHealthy: 1,
    expectedPods: count + 1,
    observedGeneration: metadata.generation,
  };
  await server.must('PATCH', `${path}/status`, { status });
}
