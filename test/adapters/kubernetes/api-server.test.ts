// A real API server, with the rights of rbac.yaml alone → nodes prepared and taken back.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { parseAllDocuments } from 'yaml';
import { type KubernetesAdapter, kubernetesSink } from '../../../adapters/kubernetes/kubernetes.ts';
import { ApiServer } from '../../far-sides/kubernetes/api-server.ts';
import { noKubernetes } from '../../far-sides/kubernetes/binaries.ts';
import {
  allowDisruptions,
  endPod,
  makeBudget,
  makeNode,
  makePod,
  nodeOf,
  stateOfPod,
} from '../../far-sides/kubernetes/objects.ts';
import { poll } from '../../support/poll.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { ALL, nodeDelivery } from './start-kubernetes.ts';

const options = { skip: noKubernetes(), timeout: 180_000 };
const YES = { approve: 'node' };
const never = new AbortController().signal;
const [NAMESPACE, ACCOUNT] = ['scheduled-events-bridge', 'scheduled-events-bridge'];
const COLLECTIONS: Readonly<Record<string, string>> = {
  ServiceAccount: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`,
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
};

let server: ApiServer;
let kubeconfig: string;

before(async () => {
  if (options.skip) return;
  server = await ApiServer.start();
  await server.must('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  });
  const rbac = readFileSync(new URL('../../../deploy/kubernetes/rbac.yaml', import.meta.url), 'utf8');
  for (const document of parseAllDocuments(rbac)) {
    const object = document.toJS() as { readonly kind: string };
    await server.must('POST', COLLECTIONS[object.kind] ?? assert.fail(object.kind), object);
  }
  kubeconfig = await server.kubeconfigOf(NAMESPACE, ACCOUNT);
});

after(async () => {
  if (!options.skip) await server[Symbol.asyncDispose]();
});

interface NodeState {
  readonly metadata: Readonly<Partial<Record<'annotations' | 'labels', Readonly<Record<string, string>>>>>;
  readonly spec: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string }[];
  };
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

async function stateOf(node: string): Promise<NodeState> {
  return (await nodeOf(server, node)) as unknown as NodeState;
}

function adapterFor(t: TestContext, node: string, given: object = YES): KubernetesAdapter {
  const parsed = v.parse(kubernetesSink.options, { type: 'kubernetes', node, prepare: ALL, kubeconfig, ...given });
  openSecrets(parsed, {});
  const adapter = kubernetesSink.create(parsed, adapterDeps()) as KubernetesAdapter;
  t.after(() => adapter.close());
  return adapter;
}

const deliver = async (adapter: KubernetesAdapter, change: string, wish = {}) =>
  (await adapter.deliver([nodeDelivery(change, { notBefore: null, ...wish })], never))[0];

test('with only the rights of rbac.yaml, a check finds nothing missing, and prints the account', options, async (t) => {
  await makeNode(server, 'checked');
  const adapter = adapterFor(t, 'checked');
  const seen = async () => await adapter.check(never).catch(({ message }: Error) => message);
  const expected = `as system:serviceaccount:${NAMESPACE}:${ACCOUNT}, for the node checked`;
  await poll(async () => (await seen()) === expected, 'the rights to be known to the server');
});

test('without one of the rights a check names it', options, async (t) => {
  await makeNode(server, 'unchecked');
  const path = `${COLLECTIONS['ClusterRole']}/scheduled-events-bridge-nodes`;
  const { rules } = (await server.must('GET', path)) as {
    readonly rules: readonly { readonly resources: readonly string[] }[];
  };
  const fewer = rules.filter(({ resources }) => !['nodes/status', 'pods/eviction'].includes(resources[0] ?? ''));
  await server.must('PATCH', path, { rules: fewer });
  t.after(() => server.must('PATCH', path, { rules }));
  const adapter = adapterFor(t, 'unchecked');
  const seen = async () => (await adapter.check(never).catch(({ message }: Error) => message)) ?? '';
  await poll(
    async () => /may not patch nodes\/status, create pods\/eviction:/.test(await seen()),
    'the rights to be gone',
  );
});

test('a node is prepared and drained, and afterwards as it was', options, async (t) => {
  await makeNode(server, 'worker');
  const before = await stateOf('worker');
  await makePod(server, 'web', { node: 'worker', owner: { kind: 'ReplicaSet', name: 'web' } });
  await makePod(server, 'agent', { node: 'worker', owner: { kind: 'DaemonSet', name: 'agent' } });
  await makePod(server, 'slow', { node: 'worker', gracePeriodSeconds: 30 });
  const adapter = adapterFor(t, 'worker');
  const running = deliver(adapter, 'scheduled', { description: 'maintenance' });
  await poll(async () => (await stateOfPod(server, 'slow')) === 'ending', 'the eviction of the slow pod');
  const during = await stateOf('worker');
  assert.equal(during.spec.unschedulable, true);
  const own = during.spec.taints?.find(({ key }) => key === 'scheduled-events-bridge.github.io/maintenance');
  assert.equal(own?.value, 'Reboot');
  assert.partialDeepStrictEqual(
    during.status.conditions.find(({ type }) => type === 'ScheduledEvent'),
    { status: 'True', reason: 'Reboot' },
  );
  await endPod(server, 'slow');
  assert.deepEqual(await running, { result: 'accepted', approves: true });
  assert.deepEqual([await stateOfPod(server, 'web'), await stateOfPod(server, 'agent')], ['gone', 'there']);
  assert.deepEqual(await deliver(adapter, 'scheduled'), { result: 'accepted', approves: true });
  assert.equal(await deliver(adapter, 'ended'), 'accepted');
  const { spec, status, metadata } = await stateOf('worker');
  assert.deepEqual([spec, status, metadata.annotations], [before.spec, before.status, before.metadata.annotations]);
  const path = '/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=worker';
  const { items } = (await server.must('GET', path)) as {
    readonly items: readonly { readonly reason: string; readonly type: string }[];
  };
  assert.deepEqual(items.map(({ reason, type }) => `${type} ${reason}`).toSorted(), [
    'Normal Drained',
    'Normal Restored',
    'Warning Reboot',
  ]);
});

test('label, conditions and a selector of pods are as the API server takes them', options, async (t) => {
  await makeNode(server, 'labelled');
  const before = await stateOf('labelled');
  for (const app of ['web', 'db']) await makePod(server, app, { node: 'labelled', labels: { app } });
  const adapter = adapterFor(t, 'labelled', {
    ...{ ...YES, prepare: ['condition', 'drain'], excludeFromLoadBalancers: true },
    conditions: ['ScheduledEvent', 'VMEventScheduled'],
    drain: { selector: 'app notin (db),app', gracePeriod: 'auto' },
  });
  assert.deepEqual(await deliver(adapter, 'scheduled'), { result: 'accepted', approves: true });
  assert.deepEqual([await stateOfPod(server, 'web'), await stateOfPod(server, 'db')], ['gone', 'there']);
  const during = await stateOf('labelled');
  assert.equal(during.metadata.labels?.['node.kubernetes.io/exclude-from-external-load-balancers'], 'true');
  assert.equal(during.status.conditions.length, before.status.conditions.length + 2);
  assert.equal(await deliver(adapter, 'ended'), 'accepted');
  const { status, metadata } = await stateOf('labelled');
  assert.deepEqual([status, metadata.labels], [before.status, before.metadata.labels]);
  await endPod(server, 'db');
});

test('a cordon and a taint of a person stay', options, async (t) => {
  await makeNode(server, 'cordoned');
  const theirs = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };
  await server.must('PATCH', '/api/v1/nodes/cordoned', { spec: { unschedulable: true, taints: [theirs] } });
  const before = await stateOf('cordoned');
  const adapter = adapterFor(t, 'cordoned');
  await deliver(adapter, 'started', { type: '../a b' });
  assert.equal((await stateOf('cordoned')).spec.taints?.length, (before.spec.taints?.length ?? 0) + 1);
  await deliver(adapter, 'ended');
  assert.deepEqual((await stateOf('cordoned')).spec, before.spec);
});

test('a taint that another client adds at the same moment is kept', options, async (t) => {
  await makeNode(server, 'busy');
  const adapter = adapterFor(t, 'busy', { prepare: ['condition', 'taint', 'cordon'] });
  let writes = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; writes += 1)
      await server.must('PATCH', '/api/v1/nodes/busy', { metadata: { labels: { writes: `w${writes}` } } });
  })();
  for (const change of ['scheduled', 'started', 'ended']) assert.equal(await deliver(adapter, change), 'accepted');
  isOver = true;
  await others;
  const node = (await nodeOf(server, 'busy')) as {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: object;
  };
  assert.equal(node.metadata.labels['writes'], `w${writes - 1}`);
  assert.equal('unschedulable' in node.spec, false);
});

test(
  'two events at once: the node shows the remaining one while the other ends, and both drains share a pod',
  options,
  async (t) => {
    await makeNode(server, 'twice');
    const before = await stateOf('twice');
    await makePod(server, 'both', { node: 'twice', gracePeriodSeconds: 30 });
    const adapter = adapterFor(t, 'twice');
    const [one, two] = [
      { event: 'one', type: 'Reboot' },
      { event: 'two', type: 'Preempt' },
    ];
    const shown = async () => {
      const { spec, status } = await stateOf('twice');
      const taint = spec.taints?.find(({ key }) => key === 'scheduled-events-bridge.github.io/maintenance');
      return `${spec.unschedulable} ${taint?.value} ${status.conditions.find(({ type }) => type === 'ScheduledEvent')?.reason}`;
    };
    const first = deliver(adapter, 'scheduled', one);
    await poll(async () => (await stateOfPod(server, 'both')) === 'ending', 'the eviction');
    const second = deliver(adapter, 'scheduled', two);
    await poll(async () => (await shown()) === 'true Preempt Preempt', 'the node to show the second');
    await endPod(server, 'both');
    assert.deepEqual(await Promise.all([first, second]), [
      { result: 'accepted', approves: true },
      { result: 'accepted', approves: true },
    ]);
    // Both at once: each takes back its own, and the last one the rest.
    await Promise.all([deliver(adapter, 'ended', one), deliver(adapter, 'ended', two)]);
    const { spec, status, metadata } = await stateOf('twice');
    assert.deepEqual([spec, status, metadata.annotations], [before.spec, before.status, before.metadata.annotations]);
  },
);

test(
  'it waits for a PodDisruptionBudget, and does not approve if that protects a pod to the end',
  options,
  async (t) => {
    await makeNode(server, 'budgeted');
    const labels = { app: 'kept' };
    await makePod(server, 'kept', { node: 'budgeted', labels, owner: { kind: 'ReplicaSet', name: 'kept' } });
    await makeBudget(server, 'kept', labels);
    const given = { ...YES, prepare: ['drain'], drain: { timeout: '3s' } };
    assert.equal(await deliver(adapterFor(t, 'budgeted', given), 'scheduled'), 'accepted');
    assert.equal(await stateOfPod(server, 'kept'), 'there');
    const adapter = adapterFor(t, 'budgeted', { ...YES, prepare: ['drain'] });
    const running = deliver(adapter, 'scheduled');
    const last = 'default/kept (429, disruption budget default/kept)';
    await poll(() => adapter.running()[0]?.last === last, 'the pod and its budget');
    await allowDisruptions(server, 'kept', 1);
    assert.deepEqual(await running, { result: 'accepted', approves: true });
  },
);

test('a node that is not there is misconfigured, and has nothing to take back', options, async (t) => {
  const adapter = adapterFor(t, 'nowhere');
  await assert.rejects(deliver(adapter, 'scheduled'), { code: 'BRIDGE_KUBERNETES_MISCONFIGURED', status: 404 });
  assert.equal(await deliver(adapter, 'ended'), 'accepted');
});
