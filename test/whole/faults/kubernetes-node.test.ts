// The built bridge in a pod, killed while its node is drained → drained, started, ended, as before.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startSimulator } from '../../../src/simulator.ts';
import { ALL, accountFolder } from '../../adapters/kubernetes/start-kubernetes.ts';
import { ApiServer } from '../../far-sides/kubernetes/api-server.ts';
import { noKubernetes } from '../../far-sides/kubernetes/binaries.ts';
import { NodeApi } from '../../far-sides/kubernetes/node-routes.ts';
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
import { run } from '../../support/program.ts';
import { bridgeFolder, startRun } from '../../support/running-bridge.ts';

/** An instance of a scale set, and what AKS calls its node. */
const [VM, NODE] = ['aks-pool-12345678-vmss_150', 'aks-pool-12345678-vmss000046'];
const RECORD = 'scheduled-events-bridge.github.io/prepared';

/** A node with two pods and the bridge's, and the environment and the sink of that bridge. */
async function startCluster(t: TestContext) {
  const api = await NodeApi.start();
  t.after(() => api[Symbol.asyncDispose]());
  const { cluster } = api;
  cluster.addNode(NODE);
  for (const name of ['web', 'db']) cluster.addPod({ name, node: NODE });
  cluster.addPod({ name: 'bridge', node: NODE, owner: 'DaemonSet' });
  const env = {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(api.receiver.port),
    NODE_NAME: NODE,
  };
  const node = { type: 'kubernetes', node: { env: 'NODE_NAME' }, prepare: ALL, serviceAccount: accountFolder(t) };
  return { cluster, env, node };
}

test('a maintenance drains the node over a kill of the bridge, and its end leaves no trace', async (t) => {
  const azure = await startSimulator({ speed: 1, vms: [VM] });
  t.after(() => azure.close());
  const { cluster, env, node } = await startCluster(t);
  const folder = bridgeFolder(t, azure.url, { publish: { resources: 'own' }, sinks: { node } });

  const check = await run(t, ['check', '--config', folder.config, '--connect'], { env });
  assert.match(check.stdout + check.stderr, new RegExp(`for the node ${NODE}`));
  assert.equal(check.code, 0, check.stderr);

  cluster.protectedPods.add('db');
  const before = structuredClone(cluster.node(NODE));
  const first = await startRun(t, folder, { env });
  const { EventId } = azure.schedule({ EventType: 'Redeploy' });
  await poll(() => cluster.pods.size === 2, 'the pod that may go to go');
  await first.end('SIGKILL');
  cluster.protectedPods.clear();
  const second = await startRun(t, folder, { env });
  await second.logs('the node is drained');
  assert.deepEqual([...cluster.pods.keys()], ['default/bridge']);
  assert.equal(cluster.node(NODE).spec.unschedulable, true);

  azure.start(EventId);
  await poll(() => cluster.events.size === 2, 'the Event of the start');
  azure.end(EventId);
  await second.logs('the node is back');
  const { spec, status, metadata } = cluster.node(NODE);
  assert.deepEqual([{ ...spec }, status, metadata.annotations?.[RECORD]], [before.spec, before.status, undefined]);
  assert.equal((await second.end('SIGTERM')).code, 0);
});

test('a bridge with a lost store undoes what the last one did for an ended event', async (t) => {
  const azure = await startSimulator({ speed: 1, vms: [VM] });
  t.after(() => azure.close());
  const { cluster, env, node } = await startCluster(t);
  const sections = {
    metadata: { endpoint: azure.url, pollInterval: '50ms', settle: '0s' },
    publish: { resources: 'own' },
    sinks: { node },
  };
  const before = structuredClone(cluster.node(NODE));
  const first = await startRun(t, bridgeFolder(t, azure.url, sections), { env });
  const { EventId } = azure.schedule({ EventType: 'Redeploy' });
  await first.logs('the node is drained');
  await first.end('SIGKILL');
  azure.start(EventId);
  azure.end(EventId);
  const second = await startRun(t, bridgeFolder(t, azure.url, sections), { env });
  await second.logs('this bridge never saw');
  const { spec, status, metadata } = cluster.node(NODE);
  assert.deepEqual([{ ...spec }, status, metadata.annotations?.[RECORD]], [before.spec, before.status, undefined]);
  assert.equal((await second.end('SIGTERM')).code, 0);
});

test('the same on a real API server, for the node with the name of the VM, if the event is canceled', {
  skip: noKubernetes(),
  timeout: 180_000,
}, async (t) => {
  const server = await ApiServer.start();
  t.after(() => server[Symbol.asyncDispose]());
  const azure = await startSimulator({ speed: 1, vms: [VM] });
  t.after(() => azure.close());
  await makeNode(server, NODE);
  await makePod(server, 'web', { node: NODE, gracePeriodSeconds: 30 });
  await makePod(server, 'db', { node: NODE, labels: { app: 'db' } });
  await makeBudget(server, 'db', { app: 'db' });
  const node = { type: 'kubernetes', prepare: ALL, kubeconfig: server.kubeconfig };
  const folder = bridgeFolder(t, azure.url, { publish: { resources: 'own' }, sinks: { node } });
  const state = async () => {
    const { spec, status, metadata } = (await nodeOf(server, NODE)) as Readonly<
      Record<string, Readonly<Record<string, unknown>>>
    >;
    return { spec, conditions: status?.['conditions'], annotations: metadata?.['annotations'] };
  };

  const before = await state();
  const first = await startRun(t, folder);
  const { EventId } = azure.schedule({ EventType: 'Redeploy' });
  await poll(async () => (await stateOfPod(server, 'web')) === 'ending', 'the eviction of the pod that may go');
  await first.end('SIGKILL');
  const second = await startRun(t, folder);
  await endPod(server, 'web');
  await allowDisruptions(server, 'db', 1);
  await second.logs('the node is drained');
  assert.equal((await state()).spec?.['unschedulable'], true);
  azure.cancel(EventId);
  await second.logs('the node is back');
  assert.deepEqual(await state(), before);
});
