// Two adapters that write one node at once, as before and after a reload → no mark is lost or left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterDeps } from '../adapter-deps.ts';
import { adapterFor, NODE, nodeDelivery, startKubernetes } from './start-kubernetes.ts';

const MARKS = ['condition', 'taint', 'cordon'];
const never = new AbortController().signal;

test('the condition stays while an event that is prepared meanwhile needs it, in any order of writes', async (t) => {
  for (let write = 1; write <= 4; write++) {
    const { api, deliver, folder } = await startKubernetes(t, { options: { prepare: MARKS } });
    const other = adapterFor({ node: NODE, prepare: MARKS, serviceAccount: folder }, api, adapterDeps());
    t.after(() => other.close());
    await deliver('scheduled', { event: 'one', type: 'Reboot' });
    // At the n-th request of the recovery, the other adapter prepares the node for another event.
    const answering = api.receiver.default as (...all: unknown[]) => void;
    let left = write;
    let preparing: Promise<unknown> | null = null;
    api.receiver.default = (...all: unknown[]) => {
      left -= 1;
      if (left !== 0) return answering(...all);
      preparing = other.deliver([nodeDelivery('scheduled', { event: 'two', type: 'Preempt' })], never);
      void preparing.then(() => answering(...all));
    };
    assert.equal(await deliver('ended', { event: 'one' }), 'accepted');
    await preparing;
    const { spec, status } = api.cluster.node(NODE);
    const own = status.conditions?.find(({ type }) => type === 'ScheduledEvent');
    assert.deepEqual([own?.status, own?.reason], ['True', 'Preempt'], `prepared at request ${write}`);
    assert.deepEqual(
      [spec.unschedulable, spec.taints?.map(({ value }) => value)],
      [true, ['Preempt']],
      `prepared at request ${write}`,
    );
    await other.deliver([nodeDelivery('ended', { event: 'two' })], never);
    assert.deepEqual(api.cluster.node(NODE).spec, {}, 'the last one releases the node');
    assert.equal(api.cluster.node(NODE).status.conditions?.length, 1);
  }
});
