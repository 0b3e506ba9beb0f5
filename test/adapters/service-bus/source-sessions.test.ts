// Messages of several sessions → each session handed over in order, idle ones left to others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageVerdict } from '../../../adapters/approval-source.ts';
import { BridgeError } from '../../../src/errors.ts';
import { sdkClient } from '../../far-sides/service-bus/sdk-client.ts';
import { type ServiceBusServer, serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { Reading, textOf } from '../source-reading.ts';
import { openSource, type SourceSetup, send } from './source-fixture.ts';

const ORDERED = 'ordered';

function openOrdered(server: ServiceBusServer, setup: SourceSetup = {}) {
  server.queue(ORDERED, { sessions: true });
  // Answers the attach that waits for a session: the SDK's timer for it would keep the process for a minute.
  server.closeFirst(() => server.clock.advance('1m'));
  return openSource(server, { ...setup, options: { queue: ORDERED, sessions: true, ...setup.options } });
}

async function sendTo(server: ServiceBusServer, sessionId: string, texts: readonly string[]): Promise<void> {
  await send(server, texts, { sessionId }, ORDERED);
}

test('each session is read in its order, one message at a time, and several sessions at once', async (t) => {
  const server = await serviceBusServer(t);
  const taking = new Set<string>();
  const allSessions = Promise.withResolvers<void>();
  const { source } = openOrdered(server);
  const reading = await new Reading(source, async (message): Promise<MessageVerdict> => {
    const session = textOf(message).charAt(0);
    assert.ok(!taking.has(session), 'one at a time');
    taking.add(session);
    if (taking.size === 3) allSessions.resolve();
    await allSessions.promise;
    await new Promise(setImmediate);
    taking.delete(session);
    return 'settle';
  }).ready();
  const texts = Array.from(
    { length: 30 },
    (_, index) => `${'abc'.charAt(index % 3)}-${String(index).padStart(2, '0')}`,
  );
  for (const session of 'abc')
    await sendTo(
      server,
      session,
      texts.filter((text) => text.startsWith(session)),
    );
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
  for (const session of 'abc') {
    const own = reading.texts.filter((text) => text.startsWith(session));
    assert.deepEqual(own, own.toSorted(), session);
  }
  assert.deepEqual(reading.texts.toSorted(), texts.toSorted());
  assert.deepEqual([reading.ended, server.protocolErrors], [undefined, []]);
});

test('each message of a session gets its own verdict', async (t) => {
  const server = await serviceBusServer(t);
  const { source } = openOrdered(server);
  const texts = Array.from({ length: 20 }, (_, index) => `message-${index}`);
  const reading = new Reading(source, (message) =>
    texts.indexOf(textOf(message)) % 2 ? { reason: 'odd', description: textOf(message) } : 'settle',
  );
  await reading.ready();
  await sendTo(server, 'a', texts);
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
  assert.deepEqual(
    server
      .queue(ORDERED)
      .deadLetters()
      .map(({ messageId, deadLetter }) => [messageId, deadLetter?.description]),
    texts.filter((_, index) => index % 2).map((text) => [text, text]),
  );
});

test('an idle session is released to others', async (t) => {
  const server = await serviceBusServer(t);
  const reading = await new Reading(openOrdered(server).source).ready();
  await sendTo(server, 'a', ['one']);
  await reading.until(1);
  const other = sdkClient(server);
  await assert.rejects(other.acceptSession(ORDERED, 'a'), { code: 'SessionCannotBeLocked' });
  const detached = () =>
    server.contacts('detach').filter(({ entity, role }) => entity === ORDERED && role === 'receiver').length;
  await server.until(() => detached() === 1, 'a session that was left');
  assert.equal((await other.acceptSession(ORDERED, 'a')).sessionId, 'a');
});

test('a returned message keeps its place in the session, which another reader may get in the meantime', async (t) => {
  const server = await serviceBusServer(t);
  const verdicts: MessageVerdict[] = ['giveBack', 'giveBack', 'settle', 'settle'];
  const { source } = openOrdered(server);
  const reading = await new Reading(source, () => verdicts.shift() ?? 'settle').ready();
  await sendTo(server, 'a', ['one', 'two']);
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
  assert.deepEqual(reading.texts, ['one', 'one', 'one', 'two']);
  assert.equal(new Set(reading.messages.map(({ id }) => id)).size, 2);
});

test('when sessions are lost, their messages arrive again with the same ids, in order, and the source continues', async (t) => {
  const server = await serviceBusServer(t);
  const verdict = Promise.withResolvers<MessageVerdict>();
  const { source } = openOrdered(server);
  const reading = await new Reading(source, () => verdict.promise).ready();
  await sendTo(server, 'a', ['one', 'two']);
  await reading.until(1);
  server.queue(ORDERED).expireLocks();
  await reading.until(2);
  verdict.resolve('settle');
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
  assert.deepEqual(reading.texts, ['one', 'one', 'two']);
  assert.equal(reading.messages[0]?.id, reading.messages[1]?.id);
  assert.equal(reading.ended, undefined);
});

test('the lock of a session is renewed while one of its messages is processed', async (t) => {
  const server = await serviceBusServer(t);
  const verdict = Promise.withResolvers<MessageVerdict>();
  const reading = await new Reading(openOrdered(server).source, () => verdict.promise).ready();
  await sendTo(server, 'a', ['one']);
  await reading.until(1);
  const renewed = () =>
    server.contacts('manage').some(({ operation }) => operation === 'com.microsoft:renew-session-lock');
  await server.until(renewed, 'a renewal');
  verdict.resolve('settle');
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
});

test('if no session has a message for a long time, the source asks again', async (t) => {
  const server = await serviceBusServer(t);
  const reading = await new Reading(openOrdered(server).source).ready();
  const attached = () => server.contacts('attach').filter(({ entity }) => entity === ORDERED).length;
  for (const times of [2, 3]) {
    await server.until(() => attached() === times, 'a link that waits for a session');
    server.clock.advance('1m');
  }
  await server.until(() => attached() === 4, 'another link');
  await sendTo(server, 'a', ['one']);
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
  assert.deepEqual([reading.texts, reading.ended], [['one'], undefined]);
});

test('two bridges share the sessions of a queue', async (t) => {
  const server = await serviceBusServer(t);
  const held = Promise.withResolvers<MessageVerdict>();
  const readings = ['web_0', 'web_1'].map(
    (observerId) => new Reading(openOrdered(server, { observerId }).source, () => held.promise),
  );
  await Promise.all(readings.map((reading) => reading.ready()));
  const sessions = Array.from({ length: 12 }, (_, index) => `session-${index}`);
  for (const session of sessions) await sendTo(server, session, [session]);
  await server.until(() => readings.flatMap(({ messages }) => messages).length === 12, 'all sessions');
  held.resolve('settle');
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
  for (const { messages } of readings)
    assert.ok(messages.length >= 4 && messages.length <= 8, `${messages.length} sessions`);
});

test('if a message of a session cannot be processed, receive rejects with the same error, and the message arrives again in its place', async (t) => {
  const server = await serviceBusServer(t);
  const { source } = openOrdered(server);
  const full = new BridgeError('BRIDGE_STORE_FULL', 'no room');
  const first = await new Reading(source, () => Promise.reject(full)).ready();
  await sendTo(server, 'a', ['one', 'two']);
  assert.equal(await first.done, full);
  const second = new Reading(source);
  await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
  assert.deepEqual(second.texts, ['one', 'two']);
  assert.equal(second.messages[0]?.id, first.messages[0]?.id);
});

test('a queue without sessions is reported as such', async (t) => {
  const server = await serviceBusServer(t);
  server.queue('plain');
  const { source } = openSource(server, { options: { queue: 'plain', sessions: true } });
  for (const error of [
    await new Reading(source).done,
    await source.check(new AbortController().signal).catch((e: unknown) => e),
  ]) {
    assert.ok(error instanceof BridgeError, String(error));
    assert.deepEqual([error.code, error.disposition], ['BRIDGE_SERVICE_BUS_ENTITY', 'misconfigured']);
    assert.match(error.message, /the queue plain has no sessions: set sessions: false/);
  }
});

for (const [what, wrong] of [
  ['the connection is cut', (server: ServiceBusServer) => server.cutConnections()],
  ['the queue is disabled', (server: ServiceBusServer) => server.setStatus(ORDERED, 'disabled')],
] as const) {
  test(`when ${what} while sessions are read, receive rejects, and the next call continues at their position`, async (t) => {
    const server = await serviceBusServer(t);
    const { source } = openOrdered(server);
    const held = Promise.withResolvers<MessageVerdict>();
    const first = await new Reading(source, () => held.promise).ready();
    await sendTo(server, 'a', ['one', 'two']);
    await first.until(1);
    wrong(server);
    assert.ok((await first.done) instanceof BridgeError);
    server.setStatus(ORDERED, 'active');
    // A session whose connection was cut stays locked for as long as its lock lasts.
    server.queue(ORDERED).expireLocks();
    const second = new Reading(source);
    await server.until(() => server.queue(ORDERED).messages().length === 0, 'an empty queue');
    assert.deepEqual(second.texts, ['one', 'two']);
  });
}
