// A node with pods → evicted as kubectl would, waited for, told when they stay; the yes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { fastTime } from './fast-time.ts';
import { type KubernetesSetup, nodeDelivery, startKubernetes } from './start-kubernetes.ts';

const YES = { result: 'accepted', approves: true };
const never = new AbortController().signal;

/** One request may take 3 s of real time. */
function setup(options: Readonly<Record<string, unknown>> = {}): KubernetesSetup {
  return { time: fastTime(), options: { prepare: ['cordon', 'drain'], approve: 'node', timeout: '1m', ...options } };
}

test('pods go, those of DaemonSets, mirrors and finished ones stay, and the yes is given', async (t) => {
  const { api, deliver, deps } = await startKubernetes(t, setup({ drain: { gracePeriod: '30s' } }));
  for (const wish of [
    { name: 'web' },
    { name: 'db', namespace: 'data', owner: 'StatefulSet', hasEmptyDir: true },
    { name: 'bare', owner: null },
    { name: 'agent', owner: 'DaemonSet' },
    { name: 'static', owner: 'Node', isMirror: true },
    { name: 'job', owner: 'Job', phase: 'Succeeded' },
    { name: 'elsewhere', node: 'node-2' },
  ])
    api.cluster.addPod(wish);
  assert.deepEqual(await deliver('scheduled'), YES);
  assert.deepEqual(
    [...api.cluster.pods.keys()],
    ['default/agent', 'default/static', 'default/job', 'default/elsewhere'],
  );
  assert.deepEqual(
    [...api.cluster.graces],
    [
      ['web', 30],
      ['db', 30],
      ['bare', 30],
    ],
  );
  assert.match(deps.logged(), /the node is drained/);
});

test('a pod has the grace period that it asks for itself unless one is configured', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup());
  api.cluster.addPod({ name: 'web' });
  await deliver('scheduled');
  assert.deepEqual([...api.cluster.graces], [['web', undefined]]);
});

test('started prepares too and does not approve; updated does', async (t) => {
  const { deliver } = await startKubernetes(t, setup());
  assert.equal(await deliver('started'), 'accepted');
  assert.deepEqual(await deliver('updated'), YES);
});

test('it waits until the evicted pods have ended', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup());
  api.cluster.podsEnd = false;
  api.cluster.addPod({ name: 'slow' });
  let looks = 0;
  api.meanwhile = (method) => {
    if (method === 'GET' && ++looks === 6) api.cluster.endPods();
  };
  assert.deepEqual(await deliver('scheduled'), YES);
  assert.equal(api.asked.filter((ask) => ask.endsWith('/eviction')).length, 1);
});

test('a budget is waited for with pauses, and the pod goes once it may', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup());
  api.cluster.addPod({ name: 'web' });
  api.cluster.protectedPods.add('web');
  let asked = 0;
  api.meanwhile = (_method, path) => {
    if (path.endsWith('/eviction') && ++asked === 3) api.cluster.protectedPods.clear();
  };
  assert.deepEqual(await deliver('scheduled'), YES);
  assert.equal(asked, 3);
});

test('pods that a budget still protects when the time is over are reported; the delivery is accepted, and nothing is approved', async (t) => {
  const { api, deliver, deps } = await startKubernetes(t, setup({ drain: { timeout: '12s' } }));
  for (const name of ['web', 'api']) api.cluster.addPod({ name });
  api.cluster.protectedPods.add('web');
  assert.equal(await deliver('scheduled'), 'accepted');
  assert.deepEqual([...api.cluster.pods.keys()], ['default/web']);
  assert.match(deps.logged(), /"count":1,"pods":\["default\/web \(429, disruption budget default\/web-pdb\)"\]/);
});

test('beforeStart ends the waiting before NotBefore, and one that comes too late still evicts once', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup({ beforeStart: '30s', drain: { timeout: '1h' } }));
  for (const name of ['web', 'api']) api.cluster.addPod({ name });
  api.cluster.protectedPods.add('web');
  assert.equal(await deliver('scheduled', { notBefore: '2026-01-01T00:00:35Z' }), 'accepted');
  assert.deepEqual([...api.cluster.pods.keys()], ['default/web']);
  api.cluster.addPod({ name: 'late' });
  assert.equal(await deliver('updated', { notBefore: '2026-01-01T00:00:01Z' }), 'accepted');
  assert.deepEqual([...api.cluster.pods.keys()], ['default/web']);
});

test('pods that the configuration keeps are not evicted, not waited for, and no yes', async (t) => {
  const options = { drain: { timeout: '1h', deleteEmptyDirData: false, force: false } };
  const { api, deliver } = await startKubernetes(t, setup(options));
  for (const wish of [{ name: 'web' }, { name: 'cache', hasEmptyDir: true }, { name: 'bare', owner: null }])
    api.cluster.addPod(wish);
  assert.equal(await deliver('scheduled'), 'accepted');
  assert.deepEqual([...api.cluster.pods.keys()], ['default/cache', 'default/bare']);
});

test('a node with more pods than one page holds is drained whole', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup());
  for (let index = 0; index < 1100; index += 1) api.cluster.addPod({ name: `pod-${index}` });
  api.cluster.podsEnd = false;
  let evictions = 0;
  api.meanwhile = (_method, path) => {
    if (path.endsWith('/eviction') && ++evictions === 1100) setImmediate(() => api.cluster.endPods());
  };
  assert.deepEqual(await deliver('scheduled'), YES);
  assert.equal(evictions, 1100);
});

test('if its event changes, it ends early as superseded, and what was done stays until the end', async (t) => {
  const { api, adapter, deliver } = await startKubernetes(t, setup());
  for (const name of ['web', 'api']) api.cluster.addPod({ name });
  api.cluster.protectedPods.add('web');
  const superseded = new AbortController();
  const running = adapter.deliver([nodeDelivery('scheduled')], never, superseded.signal);
  await poll(() => api.cluster.pods.size === 1, 'the first pod to go');
  superseded.abort(new Error('the event has started'));
  assert.deepEqual(await running, [{ result: 'accepted', status: 'superseded' }]);
  assert.equal(api.cluster.node('node-1').spec.unschedulable, true);
  const asked = api.asked.length;
  assert.equal(await deliver('ended'), 'accepted');
  assert.equal(
    api.asked.slice(asked).some((ask) => ask.endsWith('/eviction')),
    false,
  );
  assert.equal(api.cluster.node('node-1').spec.unschedulable, undefined);
});

test('a stop of the bridge ends the waiting with its own reason', async (t) => {
  const { api, adapter } = await startKubernetes(t, setup());
  api.cluster.addPod({ name: 'web' });
  api.cluster.protectedPods.add('web');
  const stop = new AbortController();
  const reason = new Error('the bridge is stopping');
  const running = assert.rejects(
    adapter.deliver([nodeDelivery('scheduled')], stop.signal),
    (error) => error === reason,
  );
  await poll(() => api.asked.some((ask) => ask.endsWith('/eviction')), 'the eviction');
  stop.abort(reason);
  await running;
});

test('a pod that its controller creates again on the node is evicted with pauses, not as fast as it comes', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup({ drain: { timeout: '21s' } }));
  const { cluster } = api;
  let made = 0;
  // It tolerates every taint.
  const make = () => cluster.addPod({ name: `tolerant-${++made}`, ownerUid: 'rs-1' });
  make();
  api.meanwhile = (method, path) => {
    if (method === 'GET' && path.startsWith('/api/v1/pods') && cluster.pods.size === 0) make();
  };
  assert.equal(await deliver('scheduled'), 'accepted');
  assert.ok(made >= 3 && made <= 6, `${made} in 21 s`);
});

test('a pod whose eviction an admission webhook forbids stays and is reported, and all others are evicted', async (t) => {
  const { api, deliver, deps } = await startKubernetes(t, setup({ drain: { timeout: '6s' } }));
  for (const name of ['kept', 'web']) api.cluster.addPod({ name });
  const working = api.receiver.default as (...all: unknown[]) => void;
  const denied = {
    kind: 'Status',
    status: 'Failure',
    reason: 'Forbidden',
    message: 'admission webhook "drain.example" denied the request',
  };
  api.receiver.default = (response, socket, request) => {
    if (request.path.endsWith('/kept/eviction')) response.writeHead(403).end(JSON.stringify(denied));
    else working(response, socket, request);
  };
  assert.equal(await deliver('scheduled'), 'accepted');
  assert.deepEqual([...api.cluster.pods.keys()], ['default/kept']);
  assert.match(deps.logged(), /default\/kept \(403\)/);
});

test('if evictions get no answer, none of them continues after the failed delivery', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup());
  for (let index = 0; index < 40; index += 1) api.cluster.addPod({ name: `pod-${index}` });
  const working = api.receiver.default as (...all: unknown[]) => void;
  let asked = 0;
  api.receiver.default = (response, socket, request) => {
    if (!request.path.endsWith('/eviction')) return working(response, socket, request);
    asked += 1;
    if (asked === 1) socket.destroy();
    else working(response, socket, request);
  };
  assert.equal(failed(await deliver('scheduled').catch((error) => error)).disposition, 'retry');
  const evictions = asked;
  await deliver('ended');
  assert.equal(asked, evictions);
});

test('a missing right to evict is misconfigured at once; one that fails otherwise is tried until the time is over', async (t) => {
  const { api, deliver, deps } = await startKubernetes(t, setup({ drain: { timeout: '6s' } }));
  api.cluster.addPod({ name: 'web' });
  api.forbidden.add('create pods/eviction');
  assert.equal(failed(await deliver('scheduled').catch((error) => error)).disposition, 'misconfigured');
  api.forbidden.clear();
  const working = api.receiver.default as (...all: unknown[]) => void;
  const ending = { details: { causes: [{ reason: 'NamespaceTerminating' }] } };
  for (const [status, body] of [
    [500, {}],
    [403, ending],
  ] as const) {
    api.receiver.default = (response, socket, request) => {
      if (request.path.endsWith('/eviction')) response.writeHead(status).end(JSON.stringify(body));
      else working(response, socket, request);
    };
    assert.equal(await deliver('scheduled'), 'accepted');
    assert.match(deps.logged(), new RegExp(`default/web \\(${status}\\)`));
  }
});
