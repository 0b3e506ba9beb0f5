// Service accounts and kubeconfigs → who asks the API server, and what a check says of rights.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { ACCOUNT, NodeApi, TOKEN } from '../../far-sides/kubernetes/node-routes.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { failed } from '../contract.ts';
import {
  ALL,
  accountFolder,
  adapterFor,
  kubeconfigOf,
  NODE,
  nodeDelivery,
  startKubernetes,
} from './start-kubernetes.ts';

const never = new AbortController().signal;

test('a check prints the account of the bridge and its node, and changes nothing', async (t) => {
  const { api, adapter } = await startKubernetes(t);
  assert.equal(await adapter.check(never), `as ${ACCOUNT}, for the node ${NODE}`);
  assert.deepEqual(api.asked, [`GET /api/v1/nodes/${NODE}`]);
});

test('a check names each missing right, of the steps that are configured alone', async (t) => {
  const { api, adapter } = await startKubernetes(t, { options: { prepare: ['condition', 'taint', 'cordon'] } });
  for (const right of ['create events', 'list pods', 'create pods/eviction']) api.forbidden.add(right);
  await adapter.check(never);
  for (const right of ['patch nodes', 'patch nodes/status']) api.forbidden.add(right);
  await assert.rejects(adapter.check(never), ({ message, disposition }) => {
    assert.equal(disposition, 'misconfigured');
    assert.match(message, /scheduled-events-bridge may not patch nodes, patch nodes\/status: /);
    assert.match(message, /\{ apiGroups: \[""\], resources: \[nodes\/status\], verbs: \[patch\] \}/);
    return true;
  });
});

test('a check for all steps asks for exactly the rights of deploy/kubernetes/rbac.yaml', async (t) => {
  const { api, adapter } = await startKubernetes(t);
  const rights = [
    'get nodes',
    'patch nodes',
    'patch nodes/status',
    'create events',
    'list pods',
    'create pods/eviction',
  ];
  for (const right of rights) api.forbidden.add(right);
  await assert.rejects(adapter.check(never), ({ message }) => rights.every((right) => message.includes(right)));
  const rbac = readFileSync(new URL('../../../deploy/kubernetes/rbac.yaml', import.meta.url), 'utf8');
  const rules = [...rbac.matchAll(/resources: \[(.*)\]\n\s+verbs: \[(.*)\]/g)].flatMap(([, resource, verbs = '']) =>
    verbs.split(', ').map((verb) => `${verb} ${resource}`),
  );
  assert.deepEqual(rules.toSorted(), rights.toSorted());
});

test('a check without node says when it will be known, and one of a missing node says what to set', async (t) => {
  const { api, adapter, folder, deps } = await startKubernetes(t, { options: { node: 'nowhere' } });
  await assert.rejects(adapter.check(never), /answered 404: the node does not exist: set node/);
  const unnamed = adapterFor({ prepare: ALL, serviceAccount: folder }, api, deps);
  t.after(() => unnamed.close());
  assert.match((await unnamed.check(never)) ?? '', /the sink derives the node from the name of the VM/);
});

test('a token that kubelet renews is read again, and one that cannot be read leaves the old one in use', async (t) => {
  const time = new VirtualTime();
  const { api, deliver, folder, deps } = await startKubernetes(t, { time, options: { prepare: ['cordon'] } });
  assert.equal(await deliver('scheduled'), 'accepted');
  api.tokens.clear();
  api.tokens.add('renewed');
  assert.equal(failed(await deliver('scheduled').catch((error) => error)).status, 401);
  writeFileSync(join(folder, 'token'), 'renewed\n');
  await time.advance(1000);
  assert.equal(await deliver('scheduled'), 'accepted');
  writeFileSync(join(folder, 'token'), '');
  await time.advance(1000);
  assert.equal(await deliver('scheduled'), 'accepted');
  assert.match(deps.logged(), /token is empty.*the sink keeps the previous ones/);
  assert.equal(api.receiver.connections, 1);
});

test('a missing service account is misconfigured, and says which file', async (t) => {
  const { api, deps } = await startKubernetes(t);
  const adapter = adapterFor({ node: NODE, prepare: ALL, serviceAccount: '/nowhere' }, api, deps);
  const failure = failed(await adapter.deliver([nodeDelivery('scheduled')], never).catch((error) => error));
  assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_KUBERNETES_ACCESS', 'misconfigured']);
  assert.match(failure.message, /\/nowhere\/token cannot be read \(ENOENT\)/);
});

test('an API server with a certificate of another authority does not get the token', async (t) => {
  const { api, deliver, folder } = await startKubernetes(t);
  writeFileSync(join(folder, 'ca.crt'), (await CertificateAuthority.create(t)).cert);
  assert.equal(failed(await deliver('scheduled').catch((error) => error)).code, 'BRIDGE_KUBERNETES_TLS');
  assert.equal(api.receiver.requests.length, 0);
});

test('an API server at an address of the metadata service is not asked', async (t) => {
  const { deps } = await startKubernetes(t);
  const server = 'https://169.254.169.254';
  const failure = failed(await deliverBy(t, kubeconfigOf(server), deps).catch((error) => error));
  assert.equal(failure.code, 'BRIDGE_KUBERNETES_FORBIDDEN_ADDRESS');
});

test('a kubeconfig may have its token and authority in files, which are read again', async (t) => {
  const api = await NodeApi.start();
  t.after(() => api[Symbol.asyncDispose]());
  api.cluster.addNode(NODE);
  const folder = accountFolder(t, 'old');
  const config = kubeconfigOf(api.url, { tokenFile: 'token' }) as { clusters: { cluster: object }[] };
  config.clusters = [
    { name: 'ours', cluster: { server: api.url, 'certificate-authority': 'ca.crt' } } as { cluster: object },
  ];
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, JSON.stringify(config));
  const time = new VirtualTime();
  const adapter = adapterFor({ node: NODE, prepare: ['cordon'], kubeconfig: file }, api, adapterDeps({ time }));
  t.after(() => adapter.close());
  const deliver = () => adapter.deliver([nodeDelivery('scheduled')], never);
  assert.equal(
    failed(
      await deliver().then(
        ([outcome]) => outcome,
        (error) => error,
      ),
    ).status,
    401,
  );
  writeFileSync(join(folder, 'token'), TOKEN);
  await time.advance(1000);
  assert.deepEqual(await deliver(), ['accepted']);
});

async function deliverBy(t: TestContext, config: object, deps: ReturnType<typeof adapterDeps>) {
  const file = join(accountFolder(t), 'kubeconfig');
  writeFileSync(file, JSON.stringify(config));
  const adapter = adapterFor({ node: NODE, prepare: ALL, kubeconfig: file }, { receiver: { port: 1 } } as never, deps);
  t.after(() => adapter.close());
  return (await adapter.deliver([nodeDelivery('scheduled')], never))[0];
}
