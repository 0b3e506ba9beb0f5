// The API server of the tests → what it allows, refuses and evicts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiServer } from './api-server.ts';
import { noKubernetes } from './binaries.ts';
import { allowDisruptions, endPod, makeBudget, makeNode, makePod, nodeOf, stateOfPod } from './objects.ts';

const options = { skip: noKubernetes(), timeout: 180_000 };
let server: ApiServer;
before(async () => {
  if (options.skip) return;
  server = await ApiServer.start();
  await makeNode(server, 'vm-1');
});
after(async () => {
  if (!options.skip) await server[Symbol.asyncDispose]();
});

const evict = (pod: string) =>
  server.ask('POST', `/api/v1/namespaces/default/pods/${pod}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: pod, namespace: 'default' },
  });

test('it says which version it is', options, async () => {
  assert.equal((await server.must('GET', '/version'))['gitVersion'], 'v1.36.3');
});

test('a Node is ready and has no taint', options, async () => {
  const { spec } = (await nodeOf(server, 'vm-1')) as { readonly spec: { readonly taints?: unknown } };
  assert.equal(spec.taints, undefined);
});

test('a service account may do what a role gives it, and nothing else', options, async () => {
  await server.must('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'reader' } });
  const token = await server.tokenOf('default', 'reader');
  assert.equal((await server.ask('GET', '/api/v1/nodes/vm-1', undefined, { token })).status, 403);
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await server.must('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
  });
  await server.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
  });
  assert.equal((await server.ask('GET', '/api/v1/nodes/vm-1', undefined, { token })).status, 200);
  assert.equal((await server.ask('PATCH', '/api/v1/nodes/vm-1', {}, { token })).status, 403);
});

test('an eviction ends a Pod; one with a grace period is marked until its kubelet has ended it', options, async () => {
  await makePod(server, 'quick', { node: 'vm-1' });
  assert.equal((await evict('quick')).status, 201);
  assert.equal(await stateOfPod(server, 'quick'), 'gone');
  await makePod(server, 'slow', { node: 'vm-1', gracePeriodSeconds: 30 });
  assert.equal((await evict('slow')).status, 201);
  assert.equal(await stateOfPod(server, 'slow'), 'ending');
  await endPod(server, 'slow');
  assert.equal(await stateOfPod(server, 'slow'), 'gone');
});

test('a budget that allows no disruption answers an eviction with 429, until it allows one', options, async () => {
  await makePod(server, 'kept', { node: 'vm-1', labels: { app: 'kept' } });
  await makeBudget(server, 'kept', { app: 'kept' });
  assert.equal((await evict('kept')).status, 429);
  assert.equal(await stateOfPod(server, 'kept'), 'there');
  await allowDisruptions(server, 'kept', 1);
  assert.equal((await evict('kept')).status, 201);
  assert.equal(await stateOfPod(server, 'kept'), 'gone');
});
