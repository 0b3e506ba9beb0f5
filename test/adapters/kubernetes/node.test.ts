// Scheduled events of a VM → its node: prepared in order, once, and taken back without a trace.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed } from '../contract.ts';
import { NODE, startKubernetes } from './start-kubernetes.ts';

const MARKS = ['event', 'condition', 'taint', 'cordon'];
const TAINT = { key: 'scheduled-events-bridge.github.io/maintenance', value: 'Reboot', effect: 'NoSchedule' };
const RECORD = 'scheduled-events-bridge.github.io/prepared';

test('each step is taken in the order of prepare, and an Event, condition, taint and cordon show on the node', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  assert.equal(await deliver('scheduled', { description: 'Host\nmaintenance' }), 'accepted');
  const { spec, status, metadata } = api.cluster.node(NODE);
  assert.deepEqual(spec, { unschedulable: true, taints: [TAINT] });
  const [ready, own] = status.conditions ?? [];
  assert.deepEqual([ready?.type, own?.type, own?.status, own?.reason], ['Ready', 'ScheduledEvent', 'True', 'Reboot']);
  const key = 'c7061bac-afdc-4513-b24b-aa5f13a16123';
  assert.deepEqual(JSON.parse(metadata.annotations?.[RECORD] ?? ''), {
    events: [{ key, type: 'Reboot' }],
    did: ['condition', 'taint', 'cordon'],
  });
  const [[name, event] = []] = [...api.cluster.events];
  assert.match(name ?? '', /^default\/node-1\.[0-9a-f]{16}$/);
  assert.partialDeepStrictEqual(event, {
    involvedObject: { kind: 'Node', name: NODE, uid: metadata.uid },
    reason: 'Reboot',
    type: 'Warning',
    message: `Reboot Scheduled, not before 2026-01-01T00:15:00Z (EventId ${key.toUpperCase()}): Host maintenance`,
  });
  const written = api.asked.filter((ask) => !ask.startsWith('GET'));
  assert.deepEqual(written, [
    'POST /api/v1/namespaces/default/events',
    ...[
      'PATCH /api/v1/nodes/node-1',
      'PATCH /api/v1/nodes/node-1/status',
      'PATCH /api/v1/nodes/node-1',
      'PATCH /api/v1/nodes/node-1',
    ],
  ]);
});

test('a repeat writes nothing, and the end takes everything back', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  const before = structuredClone(api.cluster.node(NODE));
  await deliver('scheduled');
  const version = api.cluster.node(NODE).metadata.resourceVersion;
  assert.equal(await deliver('scheduled'), 'accepted');
  assert.equal(api.cluster.node(NODE).metadata.resourceVersion, version);
  assert.equal(api.cluster.events.size, 1);
  assert.equal(await deliver('started'), 'accepted');
  assert.equal(await deliver('ended'), 'accepted');
  const { spec, status, metadata } = api.cluster.node(NODE);
  assert.deepEqual({ ...spec }, before.spec);
  assert.deepEqual(status, before.status);
  assert.deepEqual(metadata.annotations, {});
  assert.equal(await deliver('ended'), 'accepted');
});

test('a node that a person cordoned stays so, with the taints of others', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  const theirs = { key: 'dedicated', value: 'db', effect: 'NoExecute' };
  api.cluster.touch(NODE, (node) => {
    node.spec = { unschedulable: true, taints: [theirs] };
  });
  await deliver('scheduled');
  assert.deepEqual(api.cluster.node(NODE).spec.taints, [theirs, TAINT]);
  await deliver('ended');
  assert.deepEqual(api.cluster.node(NODE).spec, { unschedulable: true, taints: [theirs] });
});

test('a taint with our key that another client set is neither changed nor removed', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: ['taint', 'cordon'] } });
  const theirs = { ...TAINT, value: 'by-hand' };
  api.cluster.touch(NODE, (node) => {
    node.spec = { taints: [theirs] };
  });
  await deliver('scheduled');
  await deliver('ended');
  assert.deepEqual(api.cluster.node(NODE).spec, { taints: [theirs] });
});

test('two events at once: the node is released when the last has ended, and shows the remaining one', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  const [one, two] = [
    { event: 'one', type: 'Reboot' },
    { event: 'two', type: 'Redeploy' },
  ];
  await deliver('scheduled', one);
  await deliver('scheduled', two);
  const shown = () => {
    const { spec, status } = api.cluster.node(NODE);
    return [spec.unschedulable, spec.taints?.at(-1)?.value, status.conditions?.at(-1)?.reason];
  };
  assert.deepEqual(shown(), [true, 'Redeploy', 'Redeploy']);
  await deliver('ended', two);
  assert.deepEqual(shown(), [true, 'Reboot', 'Reboot']);
  await deliver('ended', one);
  assert.deepEqual(shown(), [undefined, undefined, 'KubeletReady']);
});

test('a taint that another controller adds at the same moment is not lost', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: ['taint', 'cordon'] } });
  const theirs = { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' };
  let writes = 3;
  api.meanwhile = (method) => {
    if (method !== 'PATCH' || writes === 0) return;
    writes -= 1;
    api.cluster.touch(NODE, ({ spec }) => {
      spec.taints = [...(spec.taints ?? []).filter(({ key }) => key !== theirs.key), theirs];
    });
  };
  assert.equal(await deliver('scheduled'), 'accepted');
  const keys = api.cluster.node(NODE).spec.taints?.map(({ key }) => key);
  assert.deepEqual(keys, [theirs.key, TAINT.key]);
  writes = 1;
  assert.equal(await deliver('ended'), 'accepted');
  assert.deepEqual(api.cluster.node(NODE).spec, { taints: [theirs] });
});

test('a bridge that was killed between two writes neither leaves nor takes too much', async (t) => {
  for (let survived = 0; survived < 12; survived += 1) {
    const { api, adapter, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
    const before = structuredClone(api.cluster.node(NODE));
    const answering = api.receiver.default;
    let left = survived;
    api.receiver.default = (response, socket, request) => {
      // Every second kill comes after the write was done, before its answer came.
      if (left > 0 || survived % 2 === 1) (answering as (...all: unknown[]) => void)(response, socket, request);
      left -= 1;
      if (left < 0) socket.destroy();
    };
    await adapter.deliver([], new AbortController().signal);
    await deliver('scheduled').catch(() => undefined);
    api.work();
    assert.equal(await deliver('ended'), 'accepted', `killed after ${survived}`);
    const { spec, status } = api.cluster.node(NODE);
    assert.deepEqual([spec, status], [before.spec, before.status], `killed after ${survived}`);
  }
});

test('without recover the annotation is not written and nothing is taken back', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS, recover: false } });
  await deliver('scheduled');
  await deliver('ended');
  const { spec, metadata } = api.cluster.node(NODE);
  assert.deepEqual(spec, { unschedulable: true, taints: [TAINT] });
  assert.deepEqual(metadata.annotations ?? {}, {});
});

test('an event of another VM, and a CloudEvent without an event, are accepted without a request', async (t) => {
  const { api, deliver } = await startKubernetes(t);
  for (const change of ['approval.recorded', 'approval.failed', 'source.blind'])
    assert.equal(await deliver(change), 'accepted');
  assert.equal(await deliver('scheduled', { affected: false, resources: ['vm-2'] }), 'accepted');
  assert.equal(await deliver('scheduled', { vm: null, affected: null, resources: ['vm-2'] }), 'accepted');
  assert.deepEqual(api.asked, []);
});

test('a drill prepares the node as a real event does, and with drills: false nothing is asked', async (t) => {
  const event = 'drill-b7cf3c25-632b-4924-809d-3fb64afebede';
  const acting = await startKubernetes(t, { options: { prepare: ['cordon'] } });
  assert.equal(await acting.deliver('scheduled', { event }), 'accepted');
  assert.equal(acting.api.cluster.node(NODE).spec.unschedulable, true);
  const { api, deliver } = await startKubernetes(t, { options: { approve: 'node', drills: false } });
  for (const change of ['scheduled', 'started', 'ended']) assert.equal(await deliver(change, { event }), 'accepted');
  assert.deepEqual(api.asked, []);
});

test('an event that gets worse is shown as what it is now', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  await deliver('scheduled');
  await deliver('updated', { type: 'Redeploy' });
  const { spec, status } = api.cluster.node(NODE);
  assert.deepEqual([spec.taints, status.conditions?.at(-1)?.reason], [[{ ...TAINT, value: 'Redeploy' }], 'Redeploy']);
  await deliver('ended');
  assert.deepEqual(api.cluster.node(NODE).spec, {});
});

test('an event that no longer names this VM is taken back, at once or at its end', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  for (const change of ['updated', 'started', 'ended']) {
    await deliver('scheduled');
    assert.equal(api.cluster.node(NODE).spec.unschedulable, true);
    assert.equal(await deliver(change, { affected: false, resources: ['vm-2'] }), 'accepted');
    assert.deepEqual(api.cluster.node(NODE).spec, {}, change);
  }
});

test('the node is found from the name of the VM as AKS names its nodes', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { node: undefined, prepare: ['cordon'] } });
  api.cluster.addNode('aks-pool-12345678-vmss000046');
  assert.equal(await deliver('scheduled', { vm: 'aks-pool-12345678-vmss_150' }), 'accepted');
  assert.equal(api.cluster.node('aks-pool-12345678-vmss000046').spec.unschedulable, true);
});

test('while neither the name of the VM nor the node is known, nothing is done, with a warning', async (t) => {
  const { api, deliver, deps } = await startKubernetes(t, { options: { node: undefined } });
  assert.equal(await deliver('scheduled', { vm: null, affected: null }), 'accepted');
  assert.match(deps.logged(), /"level":40.*the name of the VM was unknown at this change: set node/);
  assert.deepEqual(api.asked, []);
});

test('while the name of the VM is unknown, the name of the node says whether an event names it', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: ['cordon'] } });
  await deliver('scheduled', { vm: null, affected: null, resources: ['other', 'Node-1'] });
  assert.equal(api.cluster.node(NODE).spec.unschedulable, true);
});

test('a node that is another VM by its providerID is left alone', async (t) => {
  const { api, deliver } = await startKubernetes(t);
  const base = 'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute';
  api.cluster.node(NODE).spec.providerID = `${base}/virtualMachineScaleSets/pool/virtualMachines/7`;
  const failure = failed(await deliver('scheduled', { vm: 'pool_3' }).catch((error) => error));
  assert.equal(failure.disposition, 'misconfigured');
  assert.match(failure.message, /the node node-1 is the VM pool_7 .* runs for pool_3/);
  assert.equal(api.cluster.events.size, 0);
  assert.equal(await deliver('scheduled', { vm: 'POOL_7' }), 'accepted');
});

test('an event that has ended meanwhile is not prepared for any more', async (t) => {
  const { api, deliver } = await startKubernetes(t);
  assert.deepEqual(await deliver('scheduled', { endedAtMs: 1 }), { result: 'accepted', status: 'superseded' });
  assert.deepEqual(api.asked, []);
});

test('a node that is missing when its event ends needs no return to service; before, it is misconfigured', async (t) => {
  const { api, deliver } = await startKubernetes(t);
  api.cluster.nodes.clear();
  assert.equal(await deliver('ended'), 'accepted');
  const failure = failed(await deliver('started').catch((error) => error));
  assert.deepEqual(
    [failure.code, failure.disposition, failure.status],
    ['BRIDGE_KUBERNETES_MISCONFIGURED', 'misconfigured', 404],
  );
});

test('hostile texts become values that Kubernetes takes', async (t) => {
  const { api, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  for (const [index, type] of ['', '../x', 'a b\u202e"}', '💥', 'x'.repeat(300), '-_-'].entries())
    assert.equal(
      await deliver('scheduled', { event: `e${index}`, type, description: '\ud800\0"\n'.repeat(500) }),
      'accepted',
      type,
    );
  for (const event of api.cluster.events.values()) {
    const { message, reason } = event as { readonly message: string; readonly reason: string };
    assert.ok(Buffer.byteLength(message) <= 1024);
    assert.match(reason, /^[A-Za-z][A-Za-z0-9_]*$/);
  }
});
