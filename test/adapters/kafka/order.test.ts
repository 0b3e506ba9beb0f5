// Lost answers, cut connections, refusals of a real broker → nothing lost, all in order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { type Fault, Hold, type ProxiedRequest } from '../../far-sides/kafka/kafka-proxy.ts';
import { withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { API } from '../../far-sides/kafka/wire.ts';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { idsOf, startSink } from './start-kafka.ts';

const NOT_LEADER = 6;
const NOT_ENOUGH_REPLICAS = 19;
const STORAGE_ERROR = 56;
const idOf = (seq: number, partitionKey: string) => sampleDelivery({ seq, partitionKey }).id;
const isProduce = ({ api }: ProxiedRequest) => api === API.produce;

for (const idempotent of [false, true]) {
  const how = idempotent ? 'idempotent: true' : 'idempotent: false';

  test(`a record that was stored without an answer does not affect other keys (${how})`, {
    skip: withoutKafka,
  }, async (t) => {
    const { deliver, proxy, records } = await startSink(t, { options: { idempotent, timeout: '2s' } });
    await deliver({ seq: 1, partitionKey: 'a' });
    for (const fault of ['cut after', 'swallow'] as const) {
      proxy.rule = (request) => (isProduce(request) ? fault : undefined);
      failed((await deliver({ seq: 2, partitionKey: 'a' }))[0]);
      proxy.rule = () => undefined;
      assert.deepEqual(await deliver({ seq: 3, partitionKey: 'b' }), ['accepted'], fault);
    }
    const ids = idsOf(await records());
    assert.equal(ids.filter((id) => id === idOf(3, 'b')).length, 2, 'what was accepted is there');
    assert.ok(ids.includes(idOf(2, 'a')));
  });

  test(`under every kind of fault each key keeps its order, and only lost answers cause repeats (${how})`, {
    skip: withoutKafka,
  }, async (t) => {
    const { deliver, proxy, records } = await startSink(t, {
      options: { idempotent, timeout: '1s' },
      topic: { partitions: 3 },
    });
    const faults: readonly Fault[] = [
      ...(['cut before', 'cut after', 'drop', 'swallow'] as const),
      ...[{ error: NOT_LEADER }, { error: NOT_ENOUGH_REPLICAS }, { error: STORAGE_ERROR }],
    ];
    let produced = 0;
    let unanswered = 0;
    proxy.rule = (request) => {
      if (!isProduce(request)) return undefined;
      produced += 1;
      const fault = produced % 5 === 0 ? faults[(produced / 5) % faults.length] : undefined;
      // The idempotent producer may hide it behind the answer to its own repeat.
      if (idempotent && fault === 'cut after') unanswered += 1;
      return fault;
    };
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    const EACH = 12;
    /** As a lane does: one at a time for each key, again until it is accepted. */
    const send = async (partitionKey: string) => {
      for (let seq = 1; seq <= EACH; seq++) {
        for (;;) {
          const [outcome] = await deliver({ seq, partitionKey });
          if (outcome === 'accepted') break;
          const { disposition, code } = failed(outcome);
          assert.equal(disposition, 'retry');
          if (code !== 'BRIDGE_KAFKA_UNAVAILABLE') unanswered += 1;
        }
      }
    };
    await Promise.all(keys.map(send));
    const ids = idsOf(await records());
    for (const key of keys) {
      const expected = Array.from({ length: EACH }, (_, index) => idOf(index + 1, key));
      const own = ids.filter((id) => id.startsWith(`${key}:`));
      assert.deepEqual([...new Set(own)], expected, `all of ${key}, in order`);
      assert.deepEqual(own, own.toSorted(), `no repeat of ${key} behind something newer`);
    }
    assert.ok(unanswered > 0);
    const repeats = ids.length - keys.length * EACH;
    assert.ok(repeats <= unanswered, `${repeats} repeats of ${unanswered} lost answers`);
  });
}

test('idempotent: true: nothing is lost if a lost answer is followed by a refusal', {
  skip: withoutKafka,
}, async (t) => {
  const { deliver, proxy, records } = await startSink(t, { options: { idempotent: true } });
  proxy.next('produce', 'cut after', { error: NOT_LEADER });
  assert.equal(failed((await deliver({ seq: 1, partitionKey: 'a' }))[0]).status, 'NOT_LEADER_FOR_PARTITION');
  assert.deepEqual(await deliver({ seq: 2, partitionKey: 'b' }), ['accepted']);
  assert.deepEqual(idsOf(await records()), [idOf(1, 'a'), idOf(2, 'b')]);
});

test('idempotent: true: a cut after the broker stored the record causes no repeat', {
  skip: withoutKafka,
}, async (t) => {
  const { deliver, proxy, records } = await startSink(t, { options: { idempotent: true } });
  proxy.next('produce', 'cut after');
  assert.deepEqual(await deliver({ seq: 1 }), ['accepted']);
  assert.equal(proxy.count('produce'), 2);
  assert.equal((await records()).length, 1);
});

test('idempotent: false: a cut before the broker stored the record is a failure, and the next attempt delivers it once', {
  skip: withoutKafka,
}, async (t) => {
  const { deliver, proxy, records } = await startSink(t);
  proxy.next('produce', 'cut before');
  const failure = failed((await deliver({ seq: 1 }))[0]);
  assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_KAFKA_BROKEN', 'retry']);
  await poll(() => proxy.open === 0, 'its other connections to be given up');
  assert.deepEqual(await deliver({ seq: 1 }), ['accepted']);
  assert.equal((await records()).length, 1);
});

test('each partition has one request in flight, in the order of the calls', { skip: withoutKafka }, async (t) => {
  const { deliver, proxy, records } = await startSink(t);
  const hold = new Hold();
  proxy.next('produce', hold);
  const first = deliver({ seq: 1, partitionKey: 'a' });
  await hold.reached;
  const others = ['b', 'c', 'd'].map((partitionKey, index) => deliver({ seq: index + 2, partitionKey }));
  // More than enough time for requests to overtake: another topic's metadata goes and comes.
  await startSink(t).then(({ deliver: other }) => other({ seq: 9 }));
  assert.equal(proxy.count('produce'), 1);
  hold.release();
  assert.deepEqual((await Promise.all([first, ...others])).flat(), ['accepted', 'accepted', 'accepted', 'accepted']);
  assert.deepEqual(idsOf(await records()), [idOf(1, 'a'), idOf(2, 'b'), idOf(3, 'c'), idOf(4, 'd')]);
});

test('a fault of one partition affects only its members', { skip: withoutKafka }, async (t) => {
  const { deliver, proxy, records } = await startSink(t, { topic: { partitions: 3 } });
  proxy.rule = (request) =>
    request.partitions.some(({ partition }) => partition === 1) ? { error: STORAGE_ERROR } : undefined;
  const [a1, b, a2] = await deliver(
    { seq: 1, partitionKey: 'a' },
    { seq: 2, partitionKey: 'b' },
    { seq: 3, partitionKey: 'a' },
  );
  assert.equal(b, 'accepted');
  for (const outcome of [a1, a2]) {
    const failure = failed(outcome);
    assert.deepEqual(
      [failure.status, failure.scope, failure.disposition],
      ['KAFKA_STORAGE_ERROR', 'delivery', 'retry'],
    );
    assert.match(failure.message, /disk/);
  }
  assert.deepEqual(idsOf(await records()), [idOf(2, 'b')]);
});

test('a time-out of a broker also fails the waiting requests, and the next one uses a new connection', {
  skip: withoutKafka,
}, async (t) => {
  const { deliver, proxy, records } = await startSink(t, { options: { timeout: '2s' } });
  await poll(async () => (await deliver({ seq: 1 }))[0] === 'accepted', 'the first delivery');
  const before = proxy.connections;
  const sent = proxy.count('produce');
  proxy.next('produce', 'drop');
  const [stuck] = await Promise.all([deliver({ seq: 2 }), proxy.until('produce', sent + 1)]).then(
    ([outcomes]) => outcomes,
  );
  const failure = failed(stuck);
  assert.deepEqual([failure.code, failure.disposition, failure.status], ['BRIDGE_KAFKA_TIMEOUT', 'retry', 'timeout']);
  assert.match(failure.message, /within 2s/);
  proxy.next('produce', 'drop');
  const [first, second] = await Promise.all([
    deliver({ seq: 2, partitionKey: 'x' }),
    deliver({ seq: 3, partitionKey: 'y' }),
  ]);
  assert.ok(first?.[0] instanceof BridgeError && second?.[0] instanceof BridgeError);
  assert.equal(proxy.count('produce'), sent + 2, 'what waited behind was not sent');
  await poll(async () => (await deliver({ seq: 2 }))[0] === 'accepted', 'the next delivery');
  assert.ok(proxy.connections > before);
  assert.deepEqual(
    [...new Set(idsOf(await records()))],
    [1, 2].map((seq) => idOf(seq, 'c7061bac-afdc-4513-b24b-aa5f13a16123')),
  );
});

test('after an abort the next record waits until the old connection is closed, so that nothing can arrive after it', {
  skip: withoutKafka,
}, async (t) => {
  const { adapter, deliver, proxy, records } = await startSink(t);
  const hold = new Hold();
  proxy.next('produce', hold);
  const controller = new AbortController();
  const reason = new Error('enough');
  const stuck = assert.rejects(
    adapter.deliver([sampleDelivery({ seq: 1 })], controller.signal),
    (error) => error === reason,
  );
  await hold.reached;
  const { connections } = proxy;
  controller.abort(reason);
  await stuck;
  assert.deepEqual(await deliver({ seq: 2 }), ['accepted']);
  assert.ok(proxy.connections > connections);
  await poll(() => proxy.open === 1, 'the old connection to go');
  hold.release();
  assert.equal((await records()).length, 2);
});

test('after an abort the next record of that partition waits while the old connection has requests to other partitions', {
  skip: withoutKafka,
}, async (t) => {
  const { adapter, deliver, proxy } = await startSink(t, { topic: { partitions: 3 } });
  const kept = new Hold();
  proxy.next('produce', 'swallow', kept);
  const controller = new AbortController();
  const stuck = assert.rejects(adapter.deliver([sampleDelivery({ seq: 1, partitionKey: 'a' })], controller.signal), {
    message: 'enough',
  });
  await proxy.until('produce', 1);
  const other = deliver({ seq: 1, partitionKey: 'b' });
  await kept.reached;
  controller.abort(new Error('enough'));
  await stuck;
  const next = deliver({ seq: 2, partitionKey: 'a' });
  // More than enough time for it to be sent: another sink connects and sends.
  await startSink(t).then(({ deliver: elsewhere }) => elsewhere({ seq: 9 }));
  assert.equal(proxy.count('produce'), 2);
  kept.release();
  assert.deepEqual([await other, await next], [['accepted'], ['accepted']]);
});

test('the sink keeps a pause that the broker asks for, and does not count it as time to answer', {
  skip: withoutKafka,
}, async (t) => {
  const { deliver, proxy, records } = await startSink(t, { options: { timeout: '1s' } });
  const startMs = performance.now();
  proxy.next('produce', { throttleMs: 2500 });
  assert.deepEqual(await deliver({ seq: 1 }), ['accepted']);
  const { connections } = proxy;
  assert.deepEqual(await deliver({ seq: 2 }), ['accepted']);
  assert.ok(performance.now() - startMs >= 2400, 'the pause was kept');
  assert.equal(proxy.connections, connections);
  assert.equal((await records()).length, 2);
});
