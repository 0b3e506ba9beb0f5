// helm, a real API server → the chart's install, rights, upgrade, end (behaviour 12.20, 12.22).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { ApiServer, type KubernetesObject } from '../far-sides/kubernetes/api-server.ts';
import { HELM, noKubernetes } from '../far-sides/kubernetes/binaries.ts';
import { makeNode, makePod } from '../far-sides/kubernetes/objects.ts';
import { poll } from '../support/poll.ts';
import { command } from './command.ts';
import { CHART, noChartTools, render, VALUES } from './rendered-chart.ts';

const options = { skip: noKubernetes(HELM), timeout: 180_000 };
const NAME = 'bridge-scheduled-events-bridge';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const DAEMON_SET = `/apis/apps/v1/namespaces/maintenance/daemonsets/${NAME}`;
const RELEASE = ['--namespace', 'maintenance'];

let server: ApiServer;
let folder = '';
before(async () => {
  if (options.skip) return;
  folder = mkdtempSync(join(tmpdir(), 'bridge-helm-'));
  for (const [name, text] of Object.entries(VALUES)) writeFileSync(join(folder, `${name}.yaml`), text);
  server = await ApiServer.start();
  for (const name of ['vm-1', 'vm-2']) await makeNode(server, name);
});
after(async () => {
  if (options.skip) return;
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Of a user who has no other charts. */
const environment = () => ({ HOME: folder, KUBECONFIG: server.kubeconfig });
const helm = (...words: readonly string[]) => command(HELM, words, folder, environment());
const daemonSet = async () =>
  (await server.must('GET', DAEMON_SET)) as KubernetesObject & { readonly spec: { readonly template: PodTemplate } };

interface PodTemplate {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: object;
}

/** `RESOURCE VERB` for each right in a namespace that not every account has. */
async function rightsIn(namespace: string, token: string): Promise<readonly string[]> {
  const asked = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } };
  const review = () => server.ask('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', asked, { token });
  // The API server makes the role that lets every account ask, and hears of it, some time after it is ready.
  await poll(async () => (await review()).status === 201, 'the right to ask for rights');
  const { resourceRules } = (await review()).body['status'] as {
    readonly resourceRules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  };
  return resourceRules
    .flatMap(({ resources, verbs }) => resources.flatMap((resource) => verbs.map((verb) => `${resource} ${verb}`)))
    .filter((right) => !/^selfsubject/.test(right))
    .sort();
}

/** As the kubelet gets it for a pod. */
async function tokenOf(pod: string, namespace: string, account: string): Promise<string> {
  const { metadata } = await server.must('GET', `/api/v1/namespaces/${namespace}/pods/${pod}`);
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: pod, uid: (metadata as { readonly uid: string }).uid };
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } };
  const { status } = await server.must(
    'POST',
    `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    asked,
  );
  return (status as { readonly token: string }).token;
}

/** What the DaemonSet's controller would make on that Node. */
async function makeDaemonPod(name: string, node: string): Promise<KubernetesObject> {
  const { template } = (await daemonSet()).spec;
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name },
    spec: { ...template.spec, nodeName: node },
  };
  return await server.must('POST', '/api/v1/namespaces/maintenance/pods', body);
}

for (const name of Object.keys(VALUES)) {
  const skip = options.skip || noChartTools();
  test(`with ${name}.yaml the command helm reports nothing, and renders the same as its library`, {
    ...options,
    skip,
  }, () => {
    helm('lint', '--strict', '--values', `${name}.yaml`, CHART);
    const printed = helm('template', 'bridge', CHART, ...RELEASE, '--values', `${name}.yaml`);
    const byName = (objects: readonly KubernetesObject[]) =>
      new Map(objects.map((each) => [`${each['kind']} ${JSON.stringify(each['metadata'])}`, each]));
    const objects = parseAllDocuments(printed).map((document) => document.toJS() as KubernetesObject);
    const library = render({ [name]: VALUES[name] ?? '' })[name] ?? assert.fail(name);
    assert.deepEqual(byName(objects.filter((each) => each !== null)), byName(library.objects));
  });
}

test(
  'with the default values, the API server accepts each object and the pod, and the account has no rights',
  options,
  async () => {
    helm('install', 'bridge', CHART, ...RELEASE, '--create-namespace');
    const pod = (await makeDaemonPod('on-vm-1', 'vm-1')) as { readonly spec: Readonly<Record<string, unknown>> };
    assert.deepEqual(
      [pod.spec['priority'], pod.spec['hostNetwork'], pod.spec['automountServiceAccountToken']],
      [2_000_001_000, true, false],
    );
    for (const namespace of ['maintenance', 'default'])
      assert.deepEqual(await rightsIn(namespace, await server.tokenOf('maintenance', NAME)), []);
  },
);

test(
  'after an upgrade to a sink that prepares Nodes: exactly the rights that it needs, and events only in default',
  options,
  async () => {
    const checksum = async () => (await daemonSet()).spec.template.metadata.annotations['checksum/config'];
    const before = await checksum();
    helm('upgrade', 'bridge', CHART, ...RELEASE, '--values', 'nodes.yaml');
    assert.notEqual(await checksum(), before, 'its pods are made anew');
    const token = await server.tokenOf('maintenance', NAME);
    // The API server hears of roles and policies by its own watches.
    await poll(async () => (await rightsIn('default', token)).includes('events create'), 'the rights');
    const everywhere = ['nodes get', 'nodes patch', 'nodes/status patch', 'pods list', 'pods/eviction create'];
    assert.deepEqual(await rightsIn('maintenance', token), everywhere);
    assert.deepEqual(await rightsIn('default', token), ['events create', ...everywhere]);
  },
);

test('a bridge can change only the Node of its pod', options, async () => {
  await makeDaemonPod('prepares-vm-1', 'vm-1');
  const token = await tokenOf('prepares-vm-1', 'maintenance', NAME);
  const cordon = (node: string, as: string) =>
    server.ask('PATCH', `/api/v1/nodes/${node}`, { spec: { unschedulable: true } }, { token: as });
  const condition = { status: { conditions: [{ type: 'ScheduledEvent', status: 'True', reason: 'Reboot' }] } };
  const tell = (node: string) =>
    server.ask('PATCH', `/api/v1/nodes/${node}/status`, condition, { token, patch: 'strategic-merge-patch' });
  await poll(async () => (await cordon('vm-2', token)).status === 403, 'the policy');
  assert.deepEqual([(await cordon('vm-1', token)).status, (await tell('vm-1')).status], [200, 200]);
  const refused = await tell('vm-2');
  assert.equal(refused.status, 403);
  assert.match(String(refused.body['message']), /a bridge may change the Node that it runs on, and no other/);
  assert.equal((await cordon('vm-1', await server.tokenOf('maintenance', NAME))).status, 403, 'a token of no pod');
});

test('other users change Nodes as before', options, async () => {
  await server.must('PATCH', '/api/v1/nodes/vm-2', { spec: { unschedulable: true } });
});

test('it can evict a pod of its Node, and read, create and delete nothing else', options, async () => {
  await makePod(server, 'web', { node: 'vm-1' });
  const token = await tokenOf('prepares-vm-1', 'maintenance', NAME);
  const pods = '/api/v1/namespaces/default/pods';
  const evicted = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace: 'default' } };
  assert.equal(
    (await server.ask('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dvm-1', undefined, { token })).status,
    200,
  );
  assert.equal((await server.ask('DELETE', `${pods}/web`, undefined, { token })).status, 403);
  assert.equal((await server.ask('POST', `${pods}/web/eviction`, evicted, { token })).status, 201);
  assert.equal((await server.ask('GET', '/api/v1/namespaces/maintenance/secrets', undefined, { token })).status, 403);
});

test('unknown values are rejected, and the release stays unchanged', options, async () => {
  const before = await daemonSet();
  const words = ['upgrade', 'bridge', CHART, ...RELEASE, '--set', 'colour=blue'];
  const { status, stderr } = spawnSync(HELM, words, { env: environment(), encoding: 'utf8' });
  assert.deepEqual([status, /additional properties 'colour' not allowed/.test(stderr)], [1, true], stderr);
  assert.deepEqual(await daemonSet(), before);
});

test('after an uninstall nothing of it is left in the cluster', options, async () => {
  helm('uninstall', 'bridge', ...RELEASE);
  const kinds = [
    '/apis/apps/v1/daemonsets',
    '/api/v1/configmaps',
    '/api/v1/serviceaccounts',
    '/api/v1/services',
    '/api/v1/secrets',
  ];
  const others = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map((kind) => `${RBAC}/${kind}`);
  const policies = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].map(
    (kind) => `${ADMISSION}/${kind}`,
  );
  for (const path of [...kinds, ...others, ...policies]) {
    const { items } = (await server.must('GET', path)) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    const left = items.map(({ metadata }) => metadata.name).filter((name) => name.includes('bridge'));
    assert.deepEqual([path, left], [path, []]);
  }
});
