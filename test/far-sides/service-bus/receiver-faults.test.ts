// Faults of settlements and management requests → what the unmodified SDK makes of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { sdkClient } from './sdk-client.ts';
import { serviceBusServer } from './service-bus-server.ts';

test('a settlement can be rejected, left without an answer, or cut off before or after it takes effect', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  const client = sdkClient(server, { retryOptions: { timeoutInMs: 2000 } });
  await client.createSender('q').sendMessages([1, 2, 3].map((body) => ({ messageId: String(body), body })));
  const receiver = client.createReceiver('q', { maxAutoLockRenewalDurationInMs: 0 });
  const [first, second, third] = await receiver.receiveMessages(3, { maxWaitTimeInMs: 10_000 });
  assert.ok(first && second && third);
  server.faults.onSettle({ do: 'reject', with: 'messageLockLost' });
  await assert.rejects(receiver.completeMessage(first), { code: 'MessageLockLost' });
  assert.equal(queue.messages().length, 3);
  server.faults.onSettle({ do: 'ignore', settled: true });
  await assert.rejects(receiver.completeMessage(second));
  assert.equal(queue.messages().length, 2);
  server.faults.onSettle({ do: 'drop' });
  await assert.rejects(receiver.completeMessage(third));
  assert.equal(queue.messages().length, 2);
});

test('a management request can be rejected or left without an answer', async (t) => {
  const server = await serviceBusServer(t);
  server.queue('q');
  const client = sdkClient(server);
  await client.createSender('q').sendMessages({ messageId: 'm', body: 1 });
  const receiver = client.createReceiver('q', { maxAutoLockRenewalDurationInMs: 0 });
  const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10_000 });
  assert.ok(message);
  server.faults.onManagement({
    do: 'answer',
    status: 410,
    condition: 'com.microsoft:message-lock-lost',
    description: 'the lock is gone',
  });
  await assert.rejects(receiver.renewMessageLock(message), { code: 'MessageLockLost' });
  await receiver.renewMessageLock(message);
});
