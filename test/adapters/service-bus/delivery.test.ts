// Batches, order, repeats, recovery of a service-bus sink → what the namespace then holds.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { QUEUE, type ServiceBus, startServiceBus } from './start-service-bus.ts';

const never = new AbortController().signal;

function samples(count: number, partitionKey: string, padding = 0, from = 1) {
  return Array.from({ length: count }, (_, index) => sampleDelivery({ seq: from + index, partitionKey, padding }));
}

function heldIds({ server }: Pick<ServiceBus, 'server'>, queue = QUEUE): (string | null)[] {
  return server
    .queue(queue)
    .messages()
    .map(({ messageId }) => messageId);
}

/** Once the link is gone; while the SDK notices, it may fail one send. */
async function untilAccepted({ deliver, server }: ServiceBus, seq: number): Promise<void> {
  await poll(() => server.contacts('detach').length > 0, 'the detachment');
  await poll(async () => (await deliver({ seq })) === 'accepted', 'the message to be taken');
  assert.equal(server.queue(QUEUE).messages().at(-1)?.messageId, sampleDelivery({ seq }).id);
}

async function withDetection(t: TestContext, window: string | null) {
  const bus = await startServiceBus(t, { options: { queue: 'detecting' } });
  bus.server.queue('detecting', window === null ? {} : { duplicateDetection: window });
  return bus;
}

test('a message that was stored before a cut is sent again in order, and duplicate detection drops the repeat', async (t) => {
  const bus = await withDetection(t, '10m');
  bus.server.faults.onSend({ do: 'drop', stored: true });
  assert.equal(failed(await bus.deliver({ seq: 1 })).code, 'BRIDGE_SERVICE_BUS_BROKEN');
  for (const seq of [1, 2]) assert.equal(await bus.deliver({ seq }), 'accepted');
  assert.deepEqual(
    heldIds(bus, 'detecting'),
    [1, 2].map((seq) => sampleDelivery({ seq }).id),
  );
});

test('without duplicate detection the repeat arrives too, with the same id', async (t) => {
  const bus = await withDetection(t, null);
  bus.server.faults.onSend({ do: 'drop', stored: true });
  failed(await bus.deliver({ seq: 1 }));
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  const { id } = sampleDelivery({ seq: 1 });
  assert.deepEqual(heldIds(bus, 'detecting'), [id, id]);
});

for (const sessions of [false, true]) {
  test(`the messages of one key share a transfer, those of two keys never do${sessions ? ', as sessions require' : ''}`, async (t) => {
    const bus = await startServiceBus(t, { options: { queue: 'grouped', sessions } });
    bus.server.queue('grouped', { sessions });
    const batch = [...samples(3, 'a'), ...samples(2, 'b'), ...samples(1, 'c')];
    // As the lane would take them from its queue.
    const mixed = [0, 3, 1, 5, 4, 2].map((index) => batch[index] as (typeof batch)[number]);
    assert.ok((await bus.adapter.deliver(mixed, never)).every((outcome) => outcome === 'accepted'));
    const transfers = bus.server.contacts('send').map(({ messageIds, batch: isBatch }) => [messageIds.length, isBatch]);
    assert.deepEqual(transfers.sort(), [
      [1, false],
      [2, true],
      [3, true],
    ]);
    for (const key of ['a', 'b', 'c'])
      assert.deepEqual(
        heldIds(bus, 'grouped').filter((id) => id?.startsWith(`${key}:`)),
        batch.filter(({ partitionKey }) => partitionKey === key).map(({ id }) => id),
      );
  });
}

test('a batch that exceeds the entity limit is sent in several transfers, in order', async (t) => {
  const bus = await startServiceBus(t, { server: { maxMessageSize: 8192 } });
  const batch = samples(12, 'a', 1000);
  assert.ok((await bus.adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
  assert.deepEqual(
    heldIds(bus),
    batch.map(({ id }) => id),
  );
  const sends = bus.server.contacts('send');
  assert.ok(sends.length > 1 && sends.length < 12);
  assert.ok(sends.every(({ bytes }) => bytes <= 8192));
});

test('only a message that fits into no transfer is refused, without being sent, and the others of its key continue', async (t) => {
  const bus = await startServiceBus(t, { server: { maxMessageSize: 70_000 } });
  const [first, last] = samples(2, 'a');
  const large = sampleDelivery({ seq: 9, partitionKey: 'a', padding: 80_000 });
  assert.ok(first && last);
  const [one, two, three] = await bus.adapter.deliver([first, large, last], never);
  assert.deepEqual([one, three], ['accepted', 'accepted']);
  const { code, disposition, scope, message } = failed(two);
  assert.deepEqual([code, disposition, scope], ['BRIDGE_SERVICE_BUS_TOO_LARGE', 'refused', 'delivery']);
  assert.match(message, /accepts messages of 70000 bytes .* at least 80\d{3}/);
  assert.deepEqual(heldIds(bus), [first.id, last.id]);
  assert.ok(bus.server.contacts('send').every(({ bytes }) => bytes < 70_000));
});

test('the service refuses a message that is too large only because of its framing', async (t) => {
  const bus = await startServiceBus(t, { server: { maxMessageSize: 2000 } });
  const { code, disposition } = failed(await bus.deliver({ padding: 1400 }));
  assert.deepEqual([code, disposition], ['BRIDGE_SERVICE_BUS_TOO_LARGE', 'refused']);
  assert.equal(bus.server.contacts('send').length, 1);
});

test('after a failed transfer, later messages of its key are not sent', async (t) => {
  const bus = await startServiceBus(t, { server: { maxMessageSize: 4096 } });
  bus.server.faults.rejectSends('internalError');
  const batch = samples(6, 'a', 1000);
  const outcomes = await bus.adapter.deliver(batch, never);
  assert.ok(outcomes.every((outcome) => failed(outcome).code === 'BRIDGE_SERVICE_BUS_UNAVAILABLE'));
  assert.equal(bus.server.contacts('send').length, 1);
  assert.ok((await bus.adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
  assert.deepEqual(
    heldIds(bus),
    batch.map(({ id }) => id),
  );
});

test('a refused transfer of several messages also refuses the later messages of its key, unsent, because the faulty one is unknown', async (t) => {
  const bus = await startServiceBus(t, { server: { maxMessageSize: 4096 } });
  bus.server.faults.rejectSends('tooLarge');
  const outcomes = await bus.adapter.deliver(samples(6, 'a', 1000), never);
  assert.ok(outcomes.every((outcome) => failed(outcome).disposition === 'refused'));
  assert.deepEqual(
    bus.server.contacts('send').map(({ messageIds }) => messageIds.length > 1),
    [true],
  );
  assert.deepEqual(heldIds(bus), []);
});

test('an abort ends a send, but keeps a connection that has answered before', async (t) => {
  const bus = await startServiceBus(t);
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  bus.server.faults.onSend({ do: 'ignore' });
  const abort = new AbortController();
  const outcome = bus.deliver({ seq: 2 }, abort.signal);
  await poll(() => bus.server.contacts('send').length === 2, 'the send');
  abort.abort(new Error('enough'));
  await assert.rejects(outcome, /enough/);
  assert.equal(await bus.deliver({ seq: 2 }), 'accepted');
  assert.equal(bus.server.contacts('connection').length, 1);
});

test('a thousand deliveries share one connection and one link', async (t) => {
  const bus = await startServiceBus(t);
  const calls = Array.from({ length: 8 }, async (_, call) => {
    for (let round = 0; round < 4; round++)
      await bus.adapter.deliver(
        Array.from({ length: 32 }, (_, key) => sampleDelivery({ seq: round + 1, partitionKey: `${call}-${key}` })),
        never,
      );
  });
  await Promise.all(calls);
  assert.equal(heldIds(bus).length, 1024);
  assert.deepEqual([bus.server.contacts('connection').length, bus.server.contacts('attach').length], [1, 1]);
  assert.deepEqual(bus.server.protocolErrors, []);
});

test('a link that idled for ten minutes and was detached is attached again by the next send, on the same connection', async (t) => {
  const bus = await startServiceBus(t);
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  bus.server.clock.advance('10m');
  await untilAccepted(bus, 2);
  assert.deepEqual([bus.server.contacts('connection').length, bus.server.links], [1, 1]);
});

test('a connection that the service closed, for idleness or an update, is replaced by the next send', async (t) => {
  const bus = await startServiceBus(t);
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  bus.server.closeConnections();
  await poll(() => bus.server.open === 0, 'the connection to go');
  await poll(async () => (await bus.deliver({ seq: 2 })) === 'accepted', 'the message to be taken');
  assert.equal(bus.server.contacts('connection').length, 2);
});

test('a connection that the service closes during a send fails the send at once', async (t) => {
  const bus = await startServiceBus(t);
  bus.server.faults.onSend({ do: 'ignore' });
  const outcome = bus.deliver({ seq: 1 });
  await poll(() => bus.server.contacts('send').length > 0, 'the send');
  bus.server.closeConnections();
  assert.equal(failed(await outcome).code, 'BRIDGE_SERVICE_BUS_BROKEN');
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
});

test('an expired token causes only another attach', async (t) => {
  const bus = await startServiceBus(t);
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  bus.server.expireTokens();
  await untilAccepted(bus, 2);
  assert.deepEqual([bus.server.contacts('connection').length, bus.server.links], [1, 1]);
});

test('a queue that is deleted and created again accepts messages again', async (t) => {
  const bus = await startServiceBus(t);
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  bus.server.delete(QUEUE);
  await poll(() => bus.server.contacts('detach').length > 0, 'the detachment');
  await poll(
    async () => failed(await bus.deliver({ seq: 2 })).code === 'BRIDGE_SERVICE_BUS_ENTITY',
    'the queue to be missed',
  );
  bus.server.queue(QUEUE);
  assert.equal(await bus.deliver({ seq: 2 }), 'accepted');
  assert.deepEqual(heldIds(bus), [sampleDelivery({ seq: 2 }).id]);
});

test('a namespace that is unreachable at the start is used once it is reachable', async (t) => {
  const bus = await startServiceBus(t);
  await bus.server.leave();
  assert.equal(failed(await bus.deliver({ seq: 1 })).code, 'BRIDGE_SERVICE_BUS_UNREACHABLE');
  await bus.server.comeBack();
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
});

test('closing waits for a running send, and then closes the connection', async (t) => {
  const bus = await startServiceBus(t);
  const outcome = bus.deliver({ seq: 1 });
  await bus.adapter[Symbol.asyncDispose]();
  assert.equal(await outcome, 'accepted');
  await poll(() => bus.server.open === 0, 'the connection to go');
  assert.equal(bus.server.contacts('close').length, 1, 'it said goodbye');
});

test('closing waits at most 2 s for a server that no longer answers', async (t) => {
  const time = new VirtualTime();
  const bus = await startServiceBus(t, { time });
  assert.equal(await bus.deliver({ seq: 1 }), 'accepted');
  bus.server.silent = true;
  const closed = bus.adapter[Symbol.asyncDispose]();
  await time.advance(1_999);
  assert.equal(await Promise.race([closed, 'still closing']), 'still closing');
  await time.advance(1);
  await closed;
  await poll(() => bus.server.open === 0, 'the connection to be cut');
});
