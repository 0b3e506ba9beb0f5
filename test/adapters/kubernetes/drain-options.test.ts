// Options of a drain, and what it waits for → the pods it evicts, and what operators see.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { fastTime } from './fast-time.ts';
import { type KubernetesSetup, nodeDelivery, startKubernetes } from './start-kubernetes.ts';

const YES = { result: 'accepted', approves: true };
const never = new AbortController().signal;

/** One request may take 3 s of real time. */
function setup(drain: object, more: object = {}): KubernetesSetup {
  return {
    time: fastTime(),
    options: { prepare: ['cordon', 'drain'], approve: 'node', timeout: '1m', drain, ...more },
  };
}

test('with a selector, only the pods that match are evicted, waited for and needed for the yes', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup({ selector: 'app=web' }));
  api.cluster.addPod({ name: 'web', labels: { app: 'web' } });
  api.cluster.addPod({ name: 'db', labels: { app: 'db' } });
  assert.deepEqual(await deliver('scheduled'), YES);
  assert.deepEqual([...api.cluster.pods.keys()], ['default/db']);
});

test('with gracePeriod: auto, a pod has its own period, or the time until 5 s before NotBefore if that is less', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup({ gracePeriod: 'auto' }));
  const graces = async (change: string, notBefore: string | null) => {
    api.cluster.graces.clear();
    for (const grace of [0, 30, 3600]) api.cluster.addPod({ name: `pod-${grace}`, grace });
    assert.equal(typeof (await deliver(change, { notBefore })), change === 'started' ? 'string' : 'object');
    return [0, 30, 3600].map((grace) => api.cluster.graces.get(`pod-${grace}`));
  };
  const [none, own, cut = 0] = await graces('scheduled', '2026-01-01T00:15:00Z');
  assert.deepEqual([none, own], [undefined, undefined]);
  assert.ok(cut > 600 && cut <= 895, String(cut));
  assert.deepEqual(await graces('updated', '2026-01-01T00:00:03Z'), [undefined, 1, 1], 'never less than 1 s');
  assert.deepEqual(await graces('updated', null), [undefined, undefined, undefined]);
  assert.deepEqual(await graces('started', '2026-01-01T00:00:03Z'), [undefined, undefined, undefined]);
});

test('while it drains, it names the pod and the budget that it waits for, then the pods that are ending', async (t) => {
  const { api, adapter } = await startKubernetes(t, setup({ timeout: '1h' }));
  const running = () => adapter.running();
  assert.deepEqual(running(), []);
  for (const name of ['api', 'web', 'db']) api.cluster.addPod({ name });
  for (const name of ['web', 'db']) api.cluster.protectedPods.add(name);
  api.cluster.podsEnd = false;
  const outcome = adapter.deliver([{ ...nodeDelivery('scheduled'), seq: 7, attempts: 2 }], never);
  await poll(() => running()[0]?.last?.includes('budget') ?? false, 'the budget');
  const [work] = running();
  assert.deepEqual(
    { ...work, sinceMs: 0 },
    {
      ...{ seq: 7, eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123', sinceMs: 0, attempt: 3 },
      last: 'default/web (429, disruption budget default/web-pdb) and 2 more',
    },
  );
  api.cluster.protectedPods.clear();
  await poll(() => running()[0]?.last === 'default/api (terminating) and 2 more', 'the end of the budget');
  api.cluster.endPods();
  assert.deepEqual(await outcome, [YES]);
  assert.deepEqual(running(), []);
});

test('a delivery without a drain is under way without a last line, and a failed one is not', async (t) => {
  const { api, adapter } = await startKubernetes(t, { options: { prepare: ['cordon'] } });
  const seen: unknown[] = [];
  api.meanwhile = () => void seen.push(...adapter.running().map(({ last }) => last));
  api.forbidden.add('patch nodes');
  await assert.rejects(adapter.deliver([nodeDelivery('scheduled')], never));
  assert.deepEqual([...new Set(seen)], [null]);
  assert.deepEqual(adapter.running(), []);
});
