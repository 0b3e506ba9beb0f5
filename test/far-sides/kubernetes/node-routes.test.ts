// The same requests to the far side of ours and to a real API server → the same answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ApiClient } from '../../../adapters/kubernetes/api/api-client.ts';
import { kubernetesOptions } from '../../../adapters/kubernetes/kubernetes-options.ts';
import { adapterDeps } from '../../adapters/adapter-deps.ts';
import { openSecrets } from '../../adapters/contract.ts';
import { kubeconfigFile } from '../../adapters/kubernetes/start-kubernetes.ts';
import { ApiServer } from './api-server.ts';
import { noKubernetes } from './binaries.ts';
import { NodeApi } from './node-routes.ts';
import { makeBudget, makeNode, makePod } from './objects.ts';

const never = new AbortController().signal;
const [MERGE, STRATEGIC] = ['application/merge-patch+json', 'application/strategic-merge-patch+json'];
const NODE = '/api/v1/nodes/worker';
const PODS = '/api/v1/namespaces/default/pods';
const taint = (value: string, effect = 'NoSchedule') => ({ key: 'example.com/maintenance', value, effect });
const event = {
  metadata: { name: 'worker.0123456789abcdef', namespace: 'default' },
  involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'worker' },
  reason: 'Reboot',
  message: 'Reboot',
  type: 'Warning',
};
const eviction = (name: string, uid?: string) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace: 'default' },
  deleteOptions: { gracePeriodSeconds: 0, ...(uid && { preconditions: { uid } }) },
});
const condition = { type: 'ScheduledEvent', status: 'True', reason: 'Reboot', message: '' };
const statusPatch = (of: object) => ({ status: { conditions: [of] } });

/** In this order. */
const ROWS: readonly (readonly [
  what: string,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
  contentType?: string,
])[] = [
  ['a node', 'GET', NODE],
  ['a node that is not there', 'GET', '/api/v1/nodes/nowhere'],
  ['a patch of a node that is not there', 'PATCH', '/api/v1/nodes/nowhere', { spec: {} }, MERGE],
  ['a cordon', 'PATCH', NODE, { spec: { unschedulable: true } }, MERGE],
  [
    'a patch of an old version',
    'PATCH',
    NODE,
    { metadata: { resourceVersion: '1' }, spec: { unschedulable: null } },
    MERGE,
  ],
  ['a patch of another uid', 'PATCH', NODE, { metadata: { uid: 'other' } }, MERGE],
  ['a patch of an unknown type', 'PATCH', NODE, {}, 'application/json'],
  ['a taint', 'PATCH', NODE, { spec: { taints: [taint('Reboot')] } }, MERGE],
  ['a taint that is no value', 'PATCH', NODE, { spec: { taints: [taint('a b')] } }, MERGE],
  ['a taint twice', 'PATCH', NODE, { spec: { taints: [taint('a'), taint('b')] } }, MERGE],
  ['two effects of a taint', 'PATCH', NODE, { spec: { taints: [taint('a'), taint('b', 'NoExecute')] } }, MERGE],
  ['a condition', 'PATCH', `${NODE}/status`, statusPatch(condition), STRATEGIC],
  [
    'no condition of an old version',
    'PATCH',
    `${NODE}/status`,
    { metadata: { resourceVersion: '1' }, ...statusPatch({ type: 'ScheduledEvent', $patch: 'delete' }) },
    STRATEGIC,
  ],
  ['no condition', 'PATCH', `${NODE}/status`, statusPatch({ type: 'ScheduledEvent', $patch: 'delete' }), STRATEGIC],
  ['an Event', 'POST', '/api/v1/namespaces/default/events', event],
  ['the Event again', 'POST', '/api/v1/namespaces/default/events', event],
  ['pods of the node', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dworker&limit=500'],
  ['an eviction of another pod of this name', 'POST', `${PODS}/free/eviction`, eviction('free', 'other')],
  ['an eviction', 'POST', `${PODS}/free/eviction`, eviction('free')],
  ['an eviction of a pod that is gone', 'POST', `${PODS}/free/eviction`, eviction('free')],
  ['an eviction that a budget forbids', 'POST', `${PODS}/kept/eviction`, eviction('kept')],
];

/** What became of the node is looked at beside each answer. */
async function answersBy(kubeconfig: string): Promise<Readonly<Record<string, string>>> {
  const options = v.parse(kubernetesOptions, { type: 'kubernetes', prepare: ['drain'], kubeconfig });
  openSecrets(options, {});
  const api = new ApiClient(options, adapterDeps());
  const told: Record<string, string> = {};
  for (const [what, method, path, body, contentType] of ROWS) {
    const given = { ...(body && { body }), ...(contentType && { contentType }) };
    const { status, headers, body: answer } = await api.ask({ method, path, ...given }, never);
    const { spec, status: state } = (await api.get({ method: 'GET', path: NODE }, never)) as unknown as NodeState;
    const taints = (spec.taints ?? []).filter(({ key }) => key === 'example.com/maintenance').map(({ value }) => value);
    const conditions = state.conditions.map(({ type }) => type).filter((type) => type === 'ScheduledEvent');
    const node = `${spec.unschedulable ?? false} ${taints} ${conditions}`;
    told[what] = `${status} ${answer?.['reason'] ?? ''} ${headers['retry-after'] ?? ''}: ${node}`;
  }
  api.close();
  return told;
}

interface NodeState {
  readonly spec: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value: string }[];
  };
  readonly status: { readonly conditions: readonly { readonly type: string }[] };
}

const EXPECTED = {
  'a node': '200  : false  ',
  'a node that is not there': '404 NotFound : false  ',
  'a patch of a node that is not there': '404 NotFound : false  ',
  'a cordon': '200  : true  ',
  'a patch of an old version': '409 Conflict : true  ',
  'a patch of another uid': '422 Invalid : true  ',
  'a patch of an unknown type': '415 UnsupportedMediaType : true  ',
  'a taint': '200  : true Reboot ',
  'a taint that is no value': '422 Invalid : true Reboot ',
  'a taint twice': '422 Invalid : true Reboot ',
  'two effects of a taint': '200  : true a,b ',
  'a condition': '200  : true a,b ScheduledEvent',
  'no condition of an old version': '409 Conflict : true a,b ScheduledEvent',
  'no condition': '200  : true a,b ',
  'an Event': '201 Reboot : true a,b ',
  'the Event again': '409 AlreadyExists : true a,b ',
  'pods of the node': '200  : true a,b ',
  'an eviction of another pod of this name': '409 Conflict : true a,b ',
  'an eviction': '201  : true a,b ',
  'an eviction of a pod that is gone': '404 NotFound : true a,b ',
  'an eviction that a budget forbids': '429 TooManyRequests : true a,b ',
};

test('the far side of ours answers as an API server does', async (t) => {
  const ours = await NodeApi.start();
  t.after(() => ours[Symbol.asyncDispose]());
  ours.cluster.addNode('worker');
  for (const name of ['free', 'kept']) ours.cluster.addPod({ name, node: 'worker' });
  ours.cluster.protectedPods.add('kept');
  assert.deepEqual(await answersBy(kubeconfigFile(t, ours)), EXPECTED);
});

test('an API server answers so', { skip: noKubernetes(), timeout: 180_000 }, async (t) => {
  const real = await ApiServer.start();
  t.after(() => real[Symbol.asyncDispose]());
  await makeNode(real, 'worker');
  for (const name of ['free', 'kept']) await makePod(real, name, { node: 'worker', labels: { app: name } });
  await makeBudget(real, 'kept', { app: 'kept' });
  assert.deepEqual(await answersBy(real.kubeconfig), EXPECTED);
});
