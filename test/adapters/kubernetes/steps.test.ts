// Steps of a preparation → Events, conditions and a label on the node, and what is taken back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastTime } from './fast-time.ts';
import { NODE, nodeDelivery, startKubernetes } from './start-kubernetes.ts';

const LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';
const RECORD = 'scheduled-events-bridge.github.io/prepared';
const ID = 'EventId C7061BAC-AFDC-4513-B24B-AA5F13A16123';

interface ShownEvent {
  readonly reason: string;
  readonly type: string;
  readonly message: string;
}

test('Events on the node report that it is drained, and that it is restored', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: ['event', 'cordon', 'drain'] } });
  api.cluster.addPod({ name: 'web' });
  const shown = () => [...api.cluster.events.values()].map((event) => event as ShownEvent);
  await deliver('scheduled');
  await deliver('scheduled');
  await deliver('ended');
  assert.deepEqual(
    shown().map(({ reason, type, message }) => [reason, type, message]),
    [
      ['Reboot', 'Warning', `Reboot Scheduled, not before 2026-01-01T00:15:00Z (${ID}): `],
      ['Drained', 'Normal', `Reboot (${ID}): all pods have left the node`],
      ['Restored', 'Normal', `Reboot (${ID}): the event is over, and the changes to the node are undone`],
    ],
    'a repeat creates none',
  );
});

test('Events name each pod that is left and its disruption budget, in as many Events as they need', async (t) => {
  const options = { prepare: ['event', 'drain'], drain: { timeout: '1s', selector: 'app=web' }, timeout: '1m' };
  const { api, deliver } = await startKubernetes(t, { time: fastTime(), options });
  const labels = { app: 'web' };
  const names = Array.from({ length: 40 }, (_, index) => `web-${index}-with-a-name-as-controllers-make-them`);
  for (const name of names) {
    api.cluster.addPod({ name, labels });
    api.cluster.protectedPods.add(name);
  }
  await deliver('scheduled');
  const events = [...api.cluster.events.values()].map((event) => event as ShownEvent);
  const left = events.filter(({ reason }) => reason === 'PodsLeft');
  assert.ok(left.length > 1 && left.every(({ type, message }) => type === 'Warning' && message.length <= 1020));
  const all = left.map(({ message }) => message).join('\n');
  for (const name of names) assert.ok(all.includes(`default/${name} (429, disruption budget default/web-pdb)`), name);
  assert.match(all, /: pods that match app=web left on the node \(40\): default\//);
});

test('an Event of a step that cannot be created is logged, and changes nothing else; without the step there is none', async (t) => {
  const { api, deliver, deps } = await startKubernetes(t, { options: { prepare: ['event', 'cordon', 'drain'] } });
  api.meanwhile = (_method, path) => {
    if (path.endsWith('/nodes/node-1') && api.cluster.events.size > 0) api.forbidden.add('create events');
  };
  assert.equal(await deliver('scheduled'), 'accepted');
  assert.equal(await deliver('ended'), 'accepted');
  assert.equal(api.cluster.node(NODE).spec.unschedulable, undefined);
  assert.match(deps.logged(), /the Event Restored could not be created on the node/);
  const silent = await startKubernetes(t, { options: { prepare: ['cordon', 'drain'] } });
  await silent.deliver('scheduled');
  await silent.deliver('ended');
  assert.equal(silent.api.cluster.events.size, 0);
});

test('a node that another event still needs is not reported as restored', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: ['event', 'cordon'] } });
  const reasons = () => [...api.cluster.events.values()].map((event) => (event as ShownEvent).reason);
  for (const event of ['one', 'two']) await deliver('scheduled', { event });
  await deliver('ended', { event: 'one' });
  assert.ok(!reasons().includes('Restored'));
  await deliver('ended', { event: 'two' });
  assert.equal(reasons().at(-1), 'Restored');
});

test('the label keeps load balancers away from the node, first of all, and is removed at the end', async (t) => {
  const options = { prepare: ['cordon'], excludeFromLoadBalancers: true };
  const { api, deliver } = await startKubernetes(t, { options });
  const cordonedAt: (string | undefined)[] = [];
  api.meanwhile = (method) => {
    if (method === 'PATCH') cordonedAt.push(api.cluster.node(NODE).metadata.labels?.[LABEL]);
  };
  await deliver('scheduled');
  assert.deepEqual(cordonedAt, [undefined, 'true'], 'the label is there when the cordon is written');
  const { metadata } = api.cluster.node(NODE);
  assert.deepEqual(JSON.parse(metadata.annotations?.[RECORD] ?? '').did, ['loadBalancers', 'cordon']);
  await deliver('ended');
  assert.deepEqual(api.cluster.node(NODE).metadata.labels, {});
});

test('a label that somebody else has set stays', async (t) => {
  const { api, deliver } = await startKubernetes(t, {
    options: { prepare: ['cordon'], excludeFromLoadBalancers: true },
  });
  api.cluster.touch(NODE, ({ metadata }) => {
    metadata.labels = { [LABEL]: '' };
  });
  await deliver('scheduled');
  await deliver('ended');
  assert.deepEqual(api.cluster.node(NODE).metadata.labels, { [LABEL]: '' });
});

const BOTH = { options: { prepare: ['condition'], conditions: ['ScheduledEvent', 'VMEventScheduled'] } };
const THEIRS = { type: 'VMEventScheduled', status: 'False', reason: 'NoVMEventScheduled', message: 'no event' };

test('several conditions are set; one that was there before gets its former state back', async (t) => {
  const { api, deliver } = await startKubernetes(t, BOTH);
  api.cluster.touch(NODE, ({ status }) => status.conditions?.push(THEIRS));
  const shown = () =>
    api.cluster
      .node(NODE)
      .status.conditions?.slice(1)
      .map(({ type, status, reason }) => [type, status, reason]);
  await deliver('scheduled');
  assert.deepEqual(shown()?.toSorted(), [
    ['ScheduledEvent', 'True', 'Reboot'],
    ['VMEventScheduled', 'True', 'Reboot'],
  ]);
  await deliver('started', { type: 'Redeploy' });
  assert.deepEqual(
    shown()?.map(([, , reason]) => reason),
    ['Redeploy', 'Redeploy'],
  );
  await deliver('ended');
  assert.deepEqual(shown(), [['VMEventScheduled', 'False', 'NoVMEventScheduled']]);
  assert.equal(api.cluster.node(NODE).status.conditions?.at(-1)?.message, 'no event');
});

test('a condition that another program has set to True, before or meanwhile, is left to it', async (t) => {
  const { api, deliver } = await startKubernetes(t, BOTH);
  const set = (reason: string, status: string) =>
    api.cluster.touch(NODE, (node) => {
      const others = node.status.conditions?.filter(({ type }) => type !== THEIRS.type) ?? [];
      node.status.conditions = [...others, { ...THEIRS, reason, status }];
    });
  const theirs = () => api.cluster.node(NODE).status.conditions?.find(({ type }) => type === THEIRS.type)?.reason;
  set('VMEventScheduled', 'True');
  await deliver('scheduled');
  await deliver('ended');
  assert.equal(theirs(), 'VMEventScheduled', 'before');
  set('NoVMEventScheduled', 'False');
  await deliver('scheduled');
  set('VMEventScheduled', 'True');
  await deliver('ended');
  assert.equal(theirs(), 'VMEventScheduled', 'meanwhile');
});

test('an annotation of an earlier release stands for the condition ScheduledEvent', async (t) => {
  const { api, deliver } = await startKubernetes(t, BOTH);
  const key = nodeDelivery('scheduled').partitionKey;
  api.cluster.touch(NODE, (node) => {
    node.metadata.annotations = { [RECORD]: JSON.stringify({ events: [{ key, type: 'Reboot' }], did: ['condition'] }) };
    node.status.conditions?.push({ type: 'ScheduledEvent', status: 'True', reason: 'Reboot' });
  });
  await deliver('ended');
  assert.deepEqual(
    api.cluster.node(NODE).status.conditions?.map(({ type }) => type),
    ['Ready'],
  );
});

test('check --connect names the right that the label needs', async (t) => {
  const options = { prepare: ['event'], excludeFromLoadBalancers: true };
  const { api, adapter } = await startKubernetes(t, { options });
  api.forbidden.add('patch nodes');
  await assert.rejects(adapter.check(new AbortController().signal), /may not patch nodes/);
});
