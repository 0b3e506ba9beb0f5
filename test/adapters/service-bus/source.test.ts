// Messages in a queue or subscription → what a source hands over, what the server holds by then.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageVerdict } from '../../../adapters/approval-source.ts';
import { BridgeError } from '../../../src/errors.ts';
import { sdkClient } from '../../far-sides/service-bus/sdk-client.ts';
import { Reading, textOf } from '../source-reading.ts';
import { openServer, openSource, QUEUE, send } from './source-fixture.ts';

test('a message arrives unchanged, with its id, place and time, and is removed once it is settled', async (t) => {
  const server = await openServer(t);
  const { source } = openSource(server);
  const reading = await new Reading(source).ready();
  const sentMs = Date.now();
  await send(server, ['{"StartRequests":[]}']);
  await reading.until(1);
  const [message] = reading.messages;
  assert.equal(message && textOf(message), '{"StartRequests":[]}');
  assert.deepEqual(message?.place, { queue: QUEUE, sequenceNumber: '1' });
  assert.ok(Math.abs((message?.sentMs ?? 0) - sentMs) < 10_000, String(message?.sentMs));
  assert.equal(message?.id, `1:${message?.sentMs}:{"StartRequests":[]}`);
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.equal(source.canGiveBack, true);
  assert.deepEqual(server.protocolErrors, []);
});

test('a message is settled after its verdict, and not before', async (t) => {
  const server = await openServer(t);
  const verdict = Promise.withResolvers<MessageVerdict>();
  const reading = new Reading(openSource(server).source, () => verdict.promise);
  await send(server, ['one']);
  await reading.until(1);
  assert.equal(server.queue(QUEUE).messages().length, 1);
  assert.deepEqual(server.contacts('settle'), []);
  verdict.resolve('settle');
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
});

test('a hundred messages with mixed verdicts each get their own, and each is processed once', async (t) => {
  const server = await openServer(t);
  const queue = server.queue(QUEUE);
  const texts = Array.from({ length: 100 }, (_, index) => `message-${index}`);
  const refused = (text: string) => ({ reason: `reason of ${text}`, description: `description of ${text}` });
  const takes = new Map<string, number>();
  const reading = await new Reading(openSource(server).source, (message) => {
    const text = textOf(message);
    const times = (takes.get(text) ?? 0) + 1;
    takes.set(text, times);
    const index = texts.indexOf(text);
    if (index % 3 === 0) return refused(text);
    return index % 3 === 1 && times === 1 ? 'giveBack' : 'settle';
  }).ready();
  await send(server, texts);
  await server.until(() => queue.messages().length === 0, 'an empty queue');
  for (const [index, text] of texts.entries()) assert.equal(takes.get(text), index % 3 === 1 ? 2 : 1, text);
  const dead = texts.filter((_, index) => index % 3 === 0);
  assert.deepEqual(
    new Map(
      queue
        .deadLetters()
        .map(({ messageId, deadLetter }) => [messageId, [deadLetter?.reason, deadLetter?.description]]),
    ),
    new Map(dead.map((text) => [text, [`reason of ${text}`, `description of ${text}`]])),
  );
  const outcomes = Map.groupBy(server.contacts('settle'), ({ messageId }) => messageId ?? '');
  for (const [index, text] of texts.entries()) {
    const told = outcomes.get(text)?.map(({ how, outcome }) => `${how} ${outcome}`);
    const last = index % 3 === 0 ? 'dead-letter accepted' : 'complete accepted';
    assert.deepEqual(told, index % 3 === 1 ? ['abandon accepted', last] : [last], text);
  }
  assert.equal(reading.ended, undefined);
});

test('a returned message arrives again with the same id, and the delivery is counted', async (t) => {
  const server = await openServer(t);
  const verdicts: MessageVerdict[] = [
    'giveBack',
    'giveBack',
    { reason: 'unknown-event', description: 'no such event' },
  ];
  const reading = new Reading(openSource(server).source, () => verdicts.shift() ?? 'settle');
  await send(server, ['one']);
  await reading.until(3);
  await server.until(() => server.queue(QUEUE).deadLetters().length === 1, 'a dead letter');
  assert.equal(new Set(reading.messages.map(({ id }) => id)).size, 1);
  assert.deepEqual(
    server.contacts('settle').map(({ how }) => how),
    ['abandon', 'abandon', 'dead-letter'],
  );
});

test('the service dead-letters a message that is returned too often', async (t) => {
  const server = await openServer(t);
  server.queue('few', { maxDeliveryCount: 3 });
  const reading = new Reading(openSource(server, { options: { queue: 'few' } }).source, () => 'giveBack');
  await send(server, ['one'], {}, 'few');
  await server.until(() => server.queue('few').deadLetters().length === 1, 'a dead letter');
  assert.equal(server.queue('few').deadLetters()[0]?.deadLetter?.reason, 'MaxDeliveryCountExceeded');
  assert.equal(reading.messages.length, 3);
});

test('reason and description of a dead letter are cut to the limit of the service', async (t) => {
  const server = await openServer(t);
  const long = `${'x'.repeat(4095)}😀 and more`;
  const reading = new Reading(openSource(server).source, () => ({ reason: long, description: long }));
  await send(server, ['one']);
  await reading.until(1);
  await server.until(() => server.queue(QUEUE).deadLetters().length === 1, 'a dead letter');
  const letter = server.queue(QUEUE).deadLetters()[0]?.deadLetter;
  assert.equal(letter?.reason, `${'x'.repeat(4095)}\ufffd`);
  assert.equal(letter?.description, letter?.reason);
});

test('bodies arrive as bytes for every way of sending, and messages need neither id nor body', async (t) => {
  const server = await openServer(t);
  const sender = sdkClient(server).createSender(QUEUE);
  const garbage = Buffer.from([0, 255, 254, 192, 10]);
  await sender.sendMessages({ body: garbage });
  await sender.sendMessages({ body: '{"a":1}', bodyType: 'value' });
  await sender.sendMessages({ body: garbage, bodyType: 'value' });
  await sender.sendMessages({ body: [1, 2], bodyType: 'sequence' });
  await sender.sendMessages({ body: { StartRequests: [] } });
  await sender.sendMessages({ body: Buffer.alloc(0), messageId: 'x'.repeat(128) });
  const reading = new Reading(openSource(server).source, () => 'settle');
  await reading.until(6);
  assert.deepEqual(
    reading.messages.map(({ body }) => body && Buffer.from(body)),
    [garbage, Buffer.from('{"a":1}'), garbage, null, Buffer.from('{"StartRequests":[]}'), Buffer.alloc(0)],
  );
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.deepEqual(reading.messages[0]?.place, { queue: QUEUE, sequenceNumber: '1' });
  assert.deepEqual(server.queue(QUEUE).deadLetters(), []);
});

test('if a message cannot be processed, receive rejects with the same error, and the message arrives again with the same id when its lock expires', async (t) => {
  const server = await openServer(t);
  const { source } = openSource(server);
  const full = new BridgeError('BRIDGE_STORE_FULL', 'no room');
  const first = new Reading(source, (message) => {
    if (textOf(message) === 'two') throw full;
    return 'settle';
  });
  await first.ready();
  await send(server, ['one', 'two']);
  assert.equal(await first.done, full);
  await server.until(() => server.open === 1, "a closed connection beside the sender's");
  assert.deepEqual(
    server
      .queue(QUEUE)
      .messages()
      .map(({ messageId, deliveryCount }) => [messageId, deliveryCount]),
    [['two', 1]],
  );
  const second = await new Reading(source).ready();
  server.queue(QUEUE).expireLocks();
  await second.until(1);
  assert.deepEqual([second.texts, second.messages[0]?.id], [['two'], first.messages[1]?.id]);
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.deepEqual(
    server.contacts('settle').map(({ how }) => how),
    ['complete', 'complete'],
  );
});

test('a message with a lost lock arrives again with the same id, and the source continues', async (t) => {
  const server = await openServer(t);
  const verdict = Promise.withResolvers<MessageVerdict>();
  const { source, logged } = openSource(server);
  const reading = new Reading(source, () => verdict.promise);
  await send(server, ['one']);
  await reading.until(1);
  server.queue(QUEUE).expireLocks();
  await reading.until(2);
  assert.equal(reading.messages[0]?.id, reading.messages[1]?.id);
  verdict.resolve('settle');
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.deepEqual(
    server.contacts('settle').map(({ outcome }) => outcome),
    ['com.microsoft:message-lock-lost', 'accepted'],
  );
  assert.match(logged(), /the lock of a message was lost/);
  await send(server, ['two']);
  await reading.until(3);
});

test('a lock is renewed while its message is processed', async (t) => {
  const server = await openServer(t);
  const verdict = Promise.withResolvers<MessageVerdict>();
  const reading = new Reading(openSource(server).source, () => verdict.promise);
  await send(server, ['one']);
  await reading.until(1);
  const renewals = () =>
    server.contacts('manage').filter(({ operation }) => operation === 'com.microsoft:renew-lock').length;
  await server.until(() => renewals() > 0, 'a renewal');
  verdict.resolve('settle');
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.equal(reading.messages.length, 1);
});

test('two readers of a queue share its messages', async (t) => {
  const server = await openServer(t);
  const held = Promise.withResolvers<MessageVerdict>();
  const first = await new Reading(openSource(server).source, () => held.promise).ready();
  const second = await new Reading(openSource(server, { observerId: 'web_1' }).source, () => held.promise).ready();
  const texts = Array.from({ length: 16 }, (_, index) => `message-${index}`);
  await send(server, texts);
  await server.until(() => first.messages.length + second.messages.length === 16, 'all messages');
  assert.deepEqual([first.messages.length, second.messages.length], [8, 8]);
  held.resolve('settle');
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  assert.deepEqual(new Set([...first.texts, ...second.texts]), new Set(texts));
});

test('each reader of a topic gets every message, from its own subscription', async (t) => {
  const server = await openServer(t);
  const topic = server.topic('maintenance');
  const names = ['web_0', 'web_1'];
  for (const name of names) topic.subscription(name);
  const readings = names.map(
    (subscription) =>
      new Reading(
        openSource(server, { options: { topic: 'maintenance', subscription }, observerId: subscription }).source,
      ),
  );
  await Promise.all(readings.map((reading) => reading.ready()));
  await send(server, ['one', 'two'], {}, 'maintenance');
  for (const [index, reading] of readings.entries()) {
    await reading.until(2);
    assert.deepEqual(reading.texts, ['one', 'two']);
    assert.deepEqual(reading.messages[0]?.place, {
      topic: 'maintenance',
      subscription: names[index],
      sequenceNumber: '1',
    });
  }
  for (const name of names)
    await server.until(() => topic.subscription(name).messages().length === 0, 'an empty subscription');
});

test('messages that wait for their verdict do not delay later ones', async (t) => {
  const server = await openServer(t);
  const held = Promise.withResolvers<MessageVerdict>();
  const reading = new Reading(openSource(server).source, (message) =>
    textOf(message).startsWith('slow') ? held.promise : 'settle',
  );
  await send(server, ['slow-1', 'quick', 'slow-2', 'quicker']);
  await server.until(() => server.queue(QUEUE).messages().length === 2, 'two settled messages');
  held.resolve('giveBack');
  await reading.until(5);
});
