// The unmodified SDK at our test server → sessions taken, held, renewed, lost and given on.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { sdkClient } from './sdk-client.ts';
import { serviceBusServer } from './service-bus-server.ts';

async function withSessions(t: TestContext, ...sessionIds: readonly string[]) {
  const server = await serviceBusServer(t);
  const queue = server.queue('q', { sessions: true, lockDuration: '30s' });
  const client = sdkClient(server);
  for (const [body, sessionId] of sessionIds.entries())
    await client.createSender('q').sendMessages({ body, sessionId });
  return { server, queue, client };
}

test('the next free session is the one with the oldest message, and its messages arrive in order', async (t) => {
  const { client, queue } = await withSessions(t, 'a', 'b', 'a');
  const first = await client.acceptNextSession('q');
  const second = await client.acceptNextSession('q');
  assert.deepEqual([first.sessionId, second.sessionId], ['a', 'b']);
  const messages = await first.receiveMessages(2, { maxWaitTimeInMs: 10_000 });
  assert.deepEqual(
    messages.map(({ body }) => body),
    [0, 2],
  );
  for (const message of messages) await first.completeMessage(message);
  assert.deepEqual(
    queue.messages().map(({ sessionId }) => sessionId),
    ['b'],
  );
});

test('a locked session cannot be accepted until it is released', async (t) => {
  const { client } = await withSessions(t, 'a');
  const holder = await client.acceptSession('q', 'a');
  await assert.rejects(client.acceptSession('q', 'a'), { code: 'SessionCannotBeLocked' });
  await holder.close();
  assert.equal((await client.acceptSession('q', 'a')).sessionId, 'a');
});

test('a receiver that waits for the next session gets it when its first message arrives', async (t) => {
  const { server, client } = await withSessions(t);
  const waiting = client.acceptNextSession('q');
  await server.until(() => server.contacts('attach').length === 1, 'an attach');
  await client.createSender('q').sendMessages({ body: 1, sessionId: 'late' });
  assert.equal((await waiting).sessionId, 'late');
});

test('a receiver that waits in vain for a session gets an error', async (t) => {
  const { client } = await withSessions(t);
  await assert.rejects(
    client.acceptNextSession('q', { abortSignal: AbortSignal.timeout(10_000) }),
    (error: Error & { code?: string }) => ['ServiceTimeout', 'SessionCannotBeLocked'].includes(error.code ?? ''),
  );
});

test('a session is renewed; when its lock expires, its link is detached and its messages arrive again', async (t) => {
  const { server, client, queue } = await withSessions(t, 'a');
  const holder = await client.acceptNextSession('q', { maxAutoLockRenewalDurationInMs: 0 });
  const [message] = await holder.receiveMessages(1, { maxWaitTimeInMs: 10_000 });
  assert.ok(message);
  server.clock.advance('20s');
  const until = await holder.renewSessionLock();
  assert.equal(Math.round((until.getTime() - server.clock.now()) / 1000), 30);
  server.clock.advance('31s');
  await server.until(() => server.contacts('detach').length === 1, 'a detached receiver');
  await assert.rejects(holder.completeMessage(message), { code: 'SessionLockLost' });
  const next = await client.acceptNextSession('q');
  const [again] = await next.receiveMessages(1, { maxWaitTimeInMs: 10_000 });
  assert.equal(again?.deliveryCount, 1);
  await next.completeMessage(again ?? message);
  assert.deepEqual(queue.messages(), []);
});

test('the state of a session is stored, and sessions with messages can be listed', async (t) => {
  const { client } = await withSessions(t, 'a', 'b');
  const holder = await client.acceptSession('q', 'a');
  assert.equal(await holder.getSessionState(), null);
  await holder.setSessionState({ seen: 3 });
  assert.deepEqual(await holder.getSessionState(), { seen: 3 });
});

test('an entity with sessions rejects a plain receiver, and one without sessions rejects a session receiver', async (t) => {
  const { server, client } = await withSessions(t, 'a');
  server.queue('plain');
  await assert.rejects(client.createReceiver('q').receiveMessages(1, { maxWaitTimeInMs: 1000 }), /requires sessions/);
  await assert.rejects(client.acceptSession('plain', 'a'));
});

test('after its connection is cut, a session stays locked until the lock expires', async (t) => {
  const { server, client } = await withSessions(t, 'a');
  await client.acceptNextSession('q');
  server.cutConnections();
  await server.until(() => server.open === 0, 'no connection');
  await assert.rejects(sdkClient(server).acceptSession('q', 'a'), { code: 'SessionCannotBeLocked' });
  server.clock.advance('31s');
  assert.equal((await sdkClient(server).acceptNextSession('q')).sessionId, 'a');
});
