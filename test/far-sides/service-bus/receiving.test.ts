// The unmodified SDK at our test server → locks, settlements, dead, deferred, scheduled messages.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import type { QueueOptions } from './entities.ts';
import { sdkClient } from './sdk-client.ts';
import { serviceBusServer } from './service-bus-server.ts';

/** A queue with these bodies, message ids m0, m1, … and a peek-lock receiver. */
async function filled(t: TestContext, bodies: readonly unknown[], options: QueueOptions = {}) {
  const server = await serviceBusServer(t);
  const queue = server.queue('q', options);
  const client = sdkClient(server);
  const messages = bodies.map((body, index) => ({ messageId: `m${index}`, body }));
  if (messages.length > 0) await client.createSender('q').sendMessages(messages);
  return { server, queue, client, receiver: client.createReceiver('q') };
}

async function receiveOne(receiver: ServiceBusReceiver): Promise<ServiceBusReceivedMessage> {
  const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10_000 });
  assert.ok(message);
  return message;
}

/** What a receiver gets without waiting. */
function receiveNow(receiver: ServiceBusReceiver): Promise<ServiceBusReceivedMessage[]> {
  return receiver.receiveMessages(10, { maxWaitTimeInMs: 50 });
}

test('a message is locked while it is processed, and removed once it is completed', async (t) => {
  const { queue, receiver, client } = await filled(t, [{ a: 1 }]);
  const message = await receiveOne(receiver);
  assert.deepEqual(
    [message.body, message.messageId, message.deliveryCount, message.state],
    [{ a: 1 }, 'm0', 0, 'active'],
  );
  assert.equal(Number(message.sequenceNumber), 1);
  assert.ok(message.lockedUntilUtc && message.enqueuedTimeUtc && message.lockToken);
  assert.deepEqual(await receiveNow(client.createReceiver('q')), []);
  await receiver.completeMessage(message);
  assert.deepEqual(queue.messages(), []);
});

test('an abandoned message arrives again with a higher delivery count and the changed properties', async (t) => {
  const { receiver } = await filled(t, [1]);
  await receiver.abandonMessage(await receiveOne(receiver), { tries: 1, note: 'x' });
  const again = await receiveOne(receiver);
  assert.equal(again.deliveryCount, 1);
  assert.deepEqual(again.applicationProperties, { tries: 1, note: 'x' });
});

test('several settlements in one tick are answered one by one, each with its own outcome', async (t) => {
  const { queue, receiver, server } = await filled(t, [0, 1, 2]);
  const messages = await receiver.receiveMessages(3, { maxWaitTimeInMs: 10_000 });
  for (const [index, message] of messages.entries()) {
    await (index === 0
      ? receiver.deadLetterMessage(message, { deadLetterReason: 'no', deadLetterErrorDescription: 'no good' })
      : receiver.completeMessage(message));
  }
  assert.deepEqual(
    queue.deadLetters().map(({ messageId }) => messageId),
    ['m0'],
  );
  assert.deepEqual(
    server.contacts('settle').map(({ messageId, how, outcome }) => [messageId, how, outcome]),
    [
      ['m0', 'dead-letter', 'accepted'],
      ['m1', 'complete', 'accepted'],
      ['m2', 'complete', 'accepted'],
    ],
  );
});

test('a dead-lettered message is in the dead-letter queue with reason and description, and can be received', async (t) => {
  const { queue, client, receiver } = await filled(t, ['x']);
  const options = { deadLetterReason: 'not-an-approval', deadLetterErrorDescription: 'the body is a text', extra: 7 };
  await receiver.deadLetterMessage(await receiveOne(receiver), options);
  const [dead] = queue.deadLetters();
  assert.deepEqual(dead?.deadLetter, { reason: 'not-an-approval', description: 'the body is a text', source: 'q' });
  const fromDead = client.createReceiver('q', { subQueueType: 'deadLetter' });
  const message = await receiveOne(fromDead);
  assert.deepEqual(
    [message.deadLetterReason, message.deadLetterErrorDescription],
    ['not-an-approval', 'the body is a text'],
  );
  assert.deepEqual([message.deadLetterSource, message.body, message.applicationProperties?.['extra']], ['q', 'x', 7]);
  await fromDead.completeMessage(message);
  assert.deepEqual([queue.messages(), queue.deadLetters()], [[], []]);
});

test('the server dead-letters a message after the maximum number of deliveries', async (t) => {
  const { queue, receiver } = await filled(t, [1], { maxDeliveryCount: 2 });
  for (const _ of [1, 2]) await receiver.abandonMessage(await receiveOne(receiver));
  const [dead] = queue.deadLetters();
  assert.deepEqual(queue.messages(), []);
  assert.equal(dead?.deadLetter?.reason, 'MaxDeliveryCountExceeded');
  assert.match(dead?.deadLetter?.description ?? '', /after 2 delivery attempts/);
});

test('after its lock expires, a message is delivered to another receiver, and a late settlement is rejected', async (t) => {
  const { server, queue, receiver } = await filled(t, [1], { lockDuration: '30s' });
  const first = await receiveOne(receiver);
  server.clock.advance('31s');
  await assert.rejects(receiver.completeMessage(first), { code: 'MessageLockLost' });
  const second = await receiveOne(receiver);
  assert.equal(second.deliveryCount, 1);
  await receiver.completeMessage(second);
  assert.deepEqual(queue.messages(), []);
});

test('locks can be made to expire at once', async (t) => {
  const { queue, receiver } = await filled(t, [1]);
  const message = await receiveOne(receiver);
  queue.expireLocks();
  await assert.rejects(receiver.completeMessage(message), { code: 'MessageLockLost' });
});

test('a renewed lock lasts another lock duration; a lost one is not renewed', async (t) => {
  const { server, queue, receiver } = await filled(t, [1], { lockDuration: '30s' });
  const message = await receiveOne(receiver);
  server.clock.advance('20s');
  const until = await receiver.renewMessageLock(message);
  assert.equal(Math.round((until.getTime() - server.clock.now()) / 1000), 30);
  server.clock.advance('20s');
  await receiver.completeMessage(message);
  assert.deepEqual(queue.messages(), []);
  assert.deepEqual(
    server.contacts('manage').map(({ operation, status }) => [operation, status]),
    [['com.microsoft:renew-lock', 200]],
  );
  await assert.rejects(receiver.renewMessageLock(message), { code: 'MessageLockLost' });
});

test('a deferred message is received only by its number, and settled through management', async (t) => {
  const { queue, receiver } = await filled(t, [1, 2]);
  const message = await receiveOne(receiver);
  await receiver.deferMessage(message);
  assert.deepEqual(
    queue.messages().map(({ state }) => state),
    ['deferred', 'active'],
  );
  await receiver.completeMessage(await receiveOne(receiver));
  const number = message.sequenceNumber;
  assert.ok(number);
  const [deferred] = await receiver.receiveDeferredMessages(number);
  assert.equal(deferred?.state, 'deferred');
  await receiver.completeMessage(deferred as ServiceBusReceivedMessage);
  assert.deepEqual(queue.messages(), []);
  await assert.rejects(receiver.receiveDeferredMessages(number), { code: 'MessageNotFound' });
});

test('receive-and-delete removes messages', async (t) => {
  const { queue, client } = await filled(t, [1, 2]);
  const messages = await receiveNow(client.createReceiver('q', { receiveMode: 'receiveAndDelete' }));
  assert.deepEqual(
    messages.map(({ body }) => body),
    [1, 2],
  );
  assert.deepEqual(queue.messages(), []);
});

test('peeking shows messages, including locked ones, without changing them', async (t) => {
  const { queue, receiver } = await filled(t, [1, 2]);
  await receiveOne(receiver);
  const peeked = await receiver.peekMessages(10);
  assert.deepEqual(
    peeked.map(({ body }) => body),
    [1, 2],
  );
  assert.deepEqual(await receiver.peekMessages(10), []);
  assert.equal(queue.messages().length, 2);
});

test('a scheduled message appears at its time, and never once it is cancelled', async (t) => {
  const { server, queue, client, receiver } = await filled(t, []);
  const sender = client.createSender('q');
  const at = new Date(server.clock.now() + 60_000);
  const [first] = await sender.scheduleMessages({ body: 'first' }, at);
  await sender.scheduleMessages({ body: 'second' }, at);
  assert.deepEqual(await receiveNow(receiver), []);
  assert.ok(first);
  await sender.cancelScheduledMessages(first);
  assert.deepEqual(
    queue.messages().map(({ state }) => state),
    ['scheduled'],
  );
  const waiting = receiveOne(receiver);
  server.clock.advance('61s');
  assert.equal((await waiting).body, 'second');
});

test('an expired message is removed, or dead-lettered if the entity is configured so', async (t) => {
  const server = await serviceBusServer(t);
  const [dropping, keeping] = [
    server.queue('a', { defaultTtl: '1h' }),
    server.queue('b', { deadLetterOnExpiration: true }),
  ];
  const client = sdkClient(server);
  await client.createSender('a').sendMessages({ body: 1, timeToLive: 7_200_000 });
  await client.createSender('b').sendMessages({ body: 2, timeToLive: 60_000 });
  assert.deepEqual([dropping.messages().length, keeping.messages().length], [1, 1]);
  server.clock.advance('61m');
  assert.deepEqual([dropping.messages().length, keeping.messages().length], [0, 0]);
  assert.equal(keeping.deadLetters()[0]?.deadLetter?.reason, 'TTLExpiredException');
});

test('a subscriber gets stored and later messages', async (t) => {
  const { server, queue, client, receiver } = await filled(t, [1, 2]);
  const seen: unknown[] = [];
  const subscription = receiver.subscribe({
    processMessage: async ({ body }) => {
      seen.push(body);
    },
    processError: async () => {},
  });
  await client.createSender('q').sendMessages({ messageId: 'm2', body: 3 });
  await server.until(() => queue.messages().length === 0, 'three settled messages');
  await subscription.close();
  assert.deepEqual(seen, [1, 2, 3]);
});

test('thousands of messages are received and settled over one link', async (t) => {
  const { server, queue, receiver } = await filled(
    t,
    Array.from({ length: 3000 }, (_, number) => number),
  );
  let received = 0;
  while (received < 3000) {
    const messages = await receiver.receiveMessages(500, { maxWaitTimeInMs: 10_000 });
    for (const message of messages) await receiver.completeMessage(message);
    received += messages.length;
  }
  assert.deepEqual([queue.messages(), server.protocolErrors], [[], []]);
});
