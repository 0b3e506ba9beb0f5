// Two events of one node at once → both prepared for, each pod asked to go once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { fastTime } from './fast-time.ts';
import { ALL, NODE, startKubernetes } from './start-kubernetes.ts';

const [ONE, TWO] = [
  { event: 'one', type: 'Reboot' },
  { event: 'two', type: 'Preempt' },
];
const setup = (options: object = {}) => ({
  time: fastTime(),
  options: { prepare: ALL, approve: 'node', timeout: '1m', ...options },
});

test('a Preempt is prepared for while a drain is under way; the marks stay until the last of both has ended', async (t) => {
  const { api, deliver, adapter } = await startKubernetes(t, setup());
  assert.deepEqual([adapter.limits.inFlight, adapter.limits.urgentInFlight], [1, 1]);
  api.cluster.podsEnd = false;
  api.cluster.addPod({ name: 'slow' });
  const evictions = () => api.asked.filter((ask) => ask.endsWith('/eviction')).length;
  const shown = () => {
    const { spec, status } = api.cluster.node(NODE);
    return [
      spec.unschedulable,
      spec.taints?.at(-1)?.value,
      status.conditions?.find(({ type }) => type === 'ScheduledEvent')?.reason,
    ];
  };
  const first = deliver('scheduled', ONE);
  await poll(() => evictions() === 1, 'the eviction');
  const second = deliver('scheduled', TWO);
  await poll(() => `${shown()}` === 'true,Preempt,Preempt', 'the node to show it');
  assert.equal(await Promise.race([first, second, Promise.resolve('both drain')]), 'both drain');
  api.cluster.endPods();
  assert.deepEqual(await Promise.all([first, second]), [
    { result: 'accepted', approves: true },
    { result: 'accepted', approves: true },
  ]);
  assert.equal(evictions(), 1, 'the pod was asked to go once');
  assert.equal(await deliver('ended', ONE), 'accepted');
  assert.deepEqual(shown(), [true, 'Preempt', 'Preempt']);
  assert.equal(await deliver('ended', TWO), 'accepted');
  assert.deepEqual(shown(), [undefined, undefined, undefined]);
});

test('the marks stay if one event ends while the node still drains for the other', async (t) => {
  for (const [ends, stays] of [
    [ONE, TWO],
    [TWO, ONE],
  ] as const) {
    const { api, deliver } = await startKubernetes(t, setup());
    await deliver('scheduled', ends);
    api.cluster.podsEnd = false;
    api.cluster.addPod({ name: 'slow' });
    const draining = deliver('scheduled', stays);
    await poll(() => api.cluster.pods.get('default/slow')?.metadata.deletionTimestamp !== undefined, 'the eviction');
    assert.equal(await deliver('ended', ends), 'accepted');
    const { spec, status } = api.cluster.node(NODE);
    const condition = status.conditions?.find(({ type }) => type === 'ScheduledEvent');
    assert.deepEqual(
      [spec.unschedulable, spec.taints?.at(-1)?.value, condition?.reason],
      [true, stays.type, stays.type],
    );
    api.cluster.endPods();
    assert.deepEqual(await draining, { result: 'accepted', approves: true });
  }
});

test('two events that end at once take everything back', async (t) => {
  const { api, deliver } = await startKubernetes(
    t,
    setup({ prepare: ['condition', 'taint', 'cordon'], approve: undefined }),
  );
  for (let round = 0; round < 5; round++) {
    await Promise.all([deliver('scheduled', ONE), deliver('scheduled', TWO)]);
    await Promise.all([deliver('ended', ONE), deliver('ended', TWO)]);
    const { spec, status, metadata } = api.cluster.node(NODE);
    assert.deepEqual([spec, metadata.annotations], [{}, {}]);
    assert.deepEqual(
      status.conditions?.map(({ type }) => type),
      ['Ready'],
    );
  }
});

test('an eviction that was refused is asked for again once for both drains, and their pods are one set', async (t) => {
  const { api, deliver } = await startKubernetes(t, setup({ prepare: ['drain'], drain: { timeout: '24s' } }));
  api.cluster.addPod({ name: 'web' });
  api.cluster.protectedPods.add('web');
  const [first, second] = [deliver('scheduled', ONE), deliver('scheduled', TWO)];
  assert.deepEqual(await Promise.all([first, second]), ['accepted', 'accepted'], 'no yes while it is there');
  const asked = api.asked.filter((ask) => ask.endsWith('/eviction')).length;
  assert.ok(asked >= 2 && asked <= 7, `${asked} in 24 s, 5 s apart`);
});
