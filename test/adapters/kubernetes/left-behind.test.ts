// A prepared node, and a bridge that does not know its events → taken back, and only then.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EventsInView } from '../../../adapters/adapter.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { adapterFor, NODE, nodeDelivery, startKubernetes } from './start-kubernetes.ts';

const MARKS = ['condition', 'taint', 'cordon'];
const RECORD = 'scheduled-events-bridge.github.io/prepared';
const never = new AbortController().signal;

interface View {
  vm: string | null;
  isInView: boolean;
  readonly seen: Set<string>;
}

/** The node is prepared for the events `one` and `two` by a bridge that is gone; the next one has an empty store. */
async function lostStore(t: TestContext, options: object = {}) {
  const { api, folder, deliver } = await startKubernetes(t, { options: { prepare: MARKS } });
  const before = structuredClone(api.cluster.node(NODE));
  for (const event of ['one', 'two']) await deliver('scheduled', { event });
  const view: View = { vm: 'vm-1', isInView: false, seen: new Set() };
  const events: EventsInView = {
    ownName: () => view.vm,
    isInView: () => view.isInView,
    wasSeen: (key) => view.seen.has(key),
  };
  const time = new VirtualTime();
  const deps = adapterDeps({ time, events });
  const adapter = adapterFor({ node: NODE, prepare: MARKS, serviceAccount: folder, ...options }, api, deps);
  t.after(() => adapter.close());
  const earlier = api.asked.length;
  await adapter.start();
  const isBack = () => api.cluster.node(NODE).metadata.annotations?.[RECORD] === undefined;
  return { api, adapter, deps, time, view, before, isBack, asked: () => api.asked.slice(earlier) };
}

test('once nothing that was seen lists them, events that the bridge never saw are taken back, and not looked for again', async (t) => {
  const { api, time, view, before, isBack, deps, asked } = await lostStore(t);
  await time.advance(60_000);
  assert.deepEqual(asked(), [], 'blind');
  view.isInView = true;
  await time.advance(5000);
  await poll(isBack, 'the node to be back');
  const { spec, status } = api.cluster.node(NODE);
  assert.deepEqual([spec, status], [before.spec, before.status]);
  assert.match(deps.logged(), /"eventId":"one".*this bridge never saw/);
  const requests = asked().length;
  await time.advance(600_000);
  assert.equal(asked().length, requests);
});

test('an event that the bridge saw keeps the node prepared: its own end takes it back', async (t) => {
  const { api, adapter, time, view, isBack } = await lostStore(t);
  view.seen.add('two');
  view.isInView = true;
  await time.advance(5000);
  await poll(
    () => !JSON.stringify(api.cluster.node(NODE).metadata.annotations).includes('one'),
    'one to be taken back',
  );
  assert.equal(api.cluster.node(NODE).spec.unschedulable, true);
  assert.equal(isBack(), false);
  assert.deepEqual(await adapter.deliver([nodeDelivery('ended', { event: 'two' })], never), ['accepted']);
  assert.deepEqual(api.cluster.node(NODE).spec, {});
});

test('while the name of the VM is unknown, or the node is another VM, nothing is taken back', async (t) => {
  const { api, time, view, isBack, deps, asked } = await lostStore(t);
  Object.assign(view, { vm: null, isInView: true });
  await time.advance(60_000);
  assert.deepEqual(asked(), []);
  view.vm = 'vm-9';
  api.cluster.node(NODE).spec.providerID =
    'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm-1';
  await time.advance(5000);
  await poll(() => deps.logged().includes('it retries every minute'), 'the refusal');
  assert.equal(isBack(), false);
});

test('if the API server fails, it looks again a minute later, with one warning', async (t) => {
  const { api, time, view, isBack, deps } = await lostStore(t);
  api.forbidden.add('patch nodes');
  view.isInView = true;
  await time.advance(5000);
  await poll(() => deps.logged().includes('it retries every minute'), 'the warning');
  api.forbidden.clear();
  await time.advance(60_000);
  await poll(isBack, 'the node to be back');
  assert.equal(deps.logged().split('it retries every minute').length, 2);
});

test('a delivery does not wait for a look that gets no answer', async (t) => {
  const { api, adapter, time, view, isBack } = await lostStore(t);
  const answering = api.receiver.default;
  let looks = 0;
  api.receiver.default = () => {
    looks += 1;
  };
  view.isInView = true;
  await time.advance(5000);
  await poll(() => looks > 0, 'the look');
  api.receiver.default = answering;
  view.seen.add('three');
  assert.deepEqual(await adapter.deliver([nodeDelivery('scheduled', { event: 'three' })], never), ['accepted']);
  await time.advance(5000);
  await poll(() => !JSON.stringify(api.cluster.node(NODE).metadata.annotations).includes('one'), 'the next look');
  assert.equal(isBack(), false);
});

test('an annotation that no bridge wrote, and a sink that never takes back, leave the node as it is', async (t) => {
  for (const [options, text] of [
    [{}, '{"events":[{"key":{"toString":1}}],"did":["cordon"]}'],
    [{ recover: false }, null],
  ] as const) {
    const { api, time, view, asked } = await lostStore(t, options);
    api.cluster.touch(NODE, ({ metadata }) => {
      if (text !== null) metadata.annotations = { [RECORD]: text };
    });
    const before = structuredClone(api.cluster.node(NODE));
    view.isInView = true;
    await time.advance(5000);
    await poll(() => text === null || asked().length > 0, 'the look');
    assert.deepEqual(api.cluster.node(NODE), before);
    assert.deepEqual(
      asked().filter((ask) => !ask.startsWith('GET')),
      [],
    );
  }
});
