// The unmodified SDK's senders at our test server → kept byte for byte, or refused as by Azure.
import assert from 'node:assert/strict';
import test from 'node:test';
import rhea from 'rhea';
import { sdkClient } from './sdk-client.ts';
import { serviceBusServer } from './service-bus-server.ts';

test('a message is in its queue with every type that it had on the wire', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  const sender = sdkClient(server).createSender('q');
  const long = rhea.types.wrap_long(9) as unknown as number;
  await sender.sendMessages({
    messageId: 'm1',
    body: Buffer.from('{"a":1}'),
    contentType: 'application/json',
    subject: 'label',
    partitionKey: 'p',
    applicationProperties: {
      uint: 9,
      long,
      negative: -9,
      text: 'x',
      flag: true,
      at: new Date(5),
      half: 1.5,
      nothing: null,
    },
  });
  const [kept] = queue.messages();
  assert.deepEqual(kept?.message.applicationProperties, {
    uint: { type: 'uint', value: 9 },
    long: { type: 'long', value: 9 },
    negative: { type: 'int', value: -9 },
    text: { type: 'string', value: 'x' },
    flag: { type: 'boolean', value: true },
    at: { type: 'timestamp', value: new Date(5) },
    half: { type: 'double', value: 1.5 },
    nothing: { type: 'null', value: null },
  });
  assert.deepEqual(kept?.message.properties, {
    'message-id': { type: 'string', value: 'm1' },
    subject: { type: 'string', value: 'label' },
    'content-type': { type: 'symbol', value: 'application/json' },
  });
  assert.deepEqual(kept?.message.messageAnnotations, { 'x-opt-partition-key': { type: 'string', value: 'p' } });
  assert.deepEqual(kept?.message.sections, [
    'header',
    'message-annotations',
    'properties',
    'application-properties',
    'data',
  ]);
  assert.deepEqual(kept?.json, { a: 1 });
  assert.deepEqual(server.protocolErrors, []);
});

test('the messages of a batch are stored one by one, in order', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  await sdkClient(server)
    .createSender('q')
    .sendMessages(['a', 'b', 'c'].map((messageId) => ({ messageId, body: Buffer.from(messageId) })));
  assert.deepEqual(
    queue.messages().map(({ messageId, sequenceNumber, data }) => [messageId, sequenceNumber, String(data)]),
    [
      ['a', 1, 'a'],
      ['b', 2, 'b'],
      ['c', 3, 'c'],
    ],
  );
  const [sent] = server.contacts('send');
  assert.deepEqual([sent?.batch, sent?.messageIds, sent?.outcome], [true, ['a', 'b', 'c'], 'accepted']);
});

test('a batch is limited by the size that the server names, and a larger message is rejected', async (t) => {
  const server = await serviceBusServer(t, { maxMessageSize: 2000 });
  const queue = server.queue('q');
  const sender = sdkClient(server).createSender('q');
  const batch = await sender.createMessageBatch();
  assert.equal(batch.maxSizeInBytes, 2000);
  assert.equal(batch.tryAddMessage({ body: Buffer.alloc(1500) }), true);
  assert.equal(batch.tryAddMessage({ body: Buffer.alloc(1500) }), false);
  await assert.rejects(sender.sendMessages({ messageId: 'large', body: Buffer.alloc(3000) }), {
    code: 'MessageSizeExceeded',
  });
  assert.deepEqual(queue.messages(), []);
});

test('a message larger than one frame arrives whole', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  const body = Buffer.alloc(200_000, 'abc');
  await sdkClient(server).createSender('q').sendMessages({ body });
  assert.deepEqual(queue.messages()[0]?.data, body);
});

test('a repeated message id is accepted and dropped within the window, alone or in a batch, and stored after it', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q', { duplicateDetection: '10m' });
  const sender = sdkClient(server).createSender('q');
  await sender.sendMessages({ messageId: 'm', body: 1 });
  await sender.sendMessages({ messageId: 'm', body: 2 });
  await sender.sendMessages([
    { messageId: 'm', body: 3 },
    { messageId: 'n', body: 4 },
    { messageId: 'n', body: 5 },
  ]);
  assert.deepEqual(
    queue.messages().map(({ json }) => json),
    [1, 4],
  );
  server.clock.advance('9m');
  await sender.sendMessages({ messageId: 'm', body: 6 });
  server.clock.advance('2m');
  await sender.sendMessages({ messageId: 'm', body: 7 });
  assert.deepEqual(
    queue.messages().map(({ json }) => json),
    [1, 4, 7],
  );
});

test('a partitioned entity detects duplicates by message id and partition key', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q', { duplicateDetection: '10m', partitioned: true });
  const sender = sdkClient(server).createSender('q');
  for (const partitionKey of ['a', 'b', 'a'])
    await sender.sendMessages({ messageId: 'm', partitionKey, body: partitionKey });
  assert.deepEqual(
    queue.messages().map(({ json }) => json),
    ['a', 'b'],
  );
});

test('a topic gives each subscription the messages that match its rule', async (t) => {
  const server = await serviceBusServer(t);
  const topic = server.topic('t');
  const all = topic.subscription('all');
  const typed = topic.subscription('typed').filter({ sql: "cloudEvents_type = 'x.ended.v1' AND user.n = 3" });
  const like = topic.subscription('like').filter({ sql: "[cloudEvents:type] LIKE 'x.%' AND sys.Label <> 'no'" });
  const equal = topic.subscription('equal').filter({ equals: { cloudEvents_type: 'x.started.v1' } });
  const none = topic.subscription('none').filter('none');
  const sender = sdkClient(server).createSender('t');
  await sender.sendMessages({ body: 1, applicationProperties: { cloudEvents_type: 'x.ended.v1', n: 3 } });
  await sender.sendMessages({
    body: 2,
    subject: 'yes',
    applicationProperties: { 'cloudEvents:type': 'x.y', cloudEvents_type: 'x.started.v1' },
  });
  await sender.sendMessages({ body: 3, subject: 'no', applicationProperties: { 'cloudEvents:type': 'x.y' } });
  const bodies = [all, typed, like, equal, none].map((subscription) => subscription.messages().map(({ json }) => json));
  assert.deepEqual(bodies, [[1, 2, 3], [1], [2], [2], []]);
});

test('the client can add and remove rules', async (t) => {
  const server = await serviceBusServer(t);
  const subscription = server.topic('t').subscription('s');
  const client = sdkClient(server);
  const rules = client.createRuleManager('t', 's');
  await rules.deleteRule('$Default');
  await rules.createRule('red', { sqlExpression: "colour = 'red'" });
  await assert.rejects(rules.createRule('odd', { sqlExpression: 'colour IN (1, 2)' }));
  const sender = client.createSender('t');
  await sender.sendMessages({ body: 1, applicationProperties: { colour: 'red' } });
  await sender.sendMessages({ body: 2, applicationProperties: { colour: 'blue' } });
  assert.deepEqual(
    subscription.messages().map(({ json }) => json),
    [1],
  );
});

test('a queue with sessions refuses a message without one', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q', { sessions: true });
  const sender = sdkClient(server).createSender('q');
  await assert.rejects(sender.sendMessages({ body: 1 }), { code: 'GeneralError', message: /SessionId was not set/ });
  await sender.sendMessages({ body: 2, sessionId: 's' });
  assert.deepEqual(
    queue.messages().map(({ sessionId }) => sessionId),
    ['s'],
  );
});

test('an entity that is missing, disabled or full reports it, and works once it is created, enabled or emptied', async (t) => {
  const server = await serviceBusServer(t);
  const sender = sdkClient(server).createSender('q');
  await assert.rejects(sender.sendMessages({ body: 1 }), { code: 'MessagingEntityNotFound' });
  const queue = server.queue('q');
  await sender.sendMessages({ body: 2 });
  queue.full = true;
  await assert.rejects(sender.sendMessages({ body: 3 }), { code: 'QuotaExceeded', retryable: false });
  queue.full = false;
  server.setStatus('q', 'send-disabled');
  await server.until(() => server.contacts('detach').length === 1, 'a detached sender');
  await assert.rejects(sender.sendMessages({ body: 4 }), { code: 'MessagingEntityDisabled' });
  server.setStatus('q', 'active');
  await sender.sendMessages({ body: 5 });
  assert.deepEqual(
    queue.messages().map(({ json }) => json),
    [2, 5],
  );
  server.delete('q');
  await server.until(() => server.contacts('detach').length === 2, 'a detached sender');
  await assert.rejects(sender.sendMessages({ body: 6 }), { code: 'MessagingEntityNotFound' });
  const again = server.queue('q');
  await sender.sendMessages({ body: 7 });
  assert.deepEqual(
    again.messages().map(({ json }) => json),
    [7],
  );
});

test('a sender without credit waits until it gets some', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  server.faults.withholdCredit = true;
  const sender = sdkClient(server, { retryOptions: { timeoutInMs: 20_000 } }).createSender('q');
  const sent = sender.sendMessages({ body: 1 });
  await server.until(() => server.contacts('attach').length === 1, 'an attached sender');
  assert.deepEqual(queue.messages(), []);
  server.grantCredit();
  await sent;
  assert.equal(queue.messages().length, 1);
});

test('thousands of messages pass over one link', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  const sender = sdkClient(server, { retryOptions: { timeoutInMs: 20_000 } }).createSender('q');
  // More at once, and the SDK calls its own sender busy.
  for (const _ of [1, 2, 3, 4, 5, 6])
    await Promise.all(Array.from({ length: 500 }, () => sender.sendMessages({ body: 1 })));
  assert.equal(queue.messages().length, 3000);
  assert.deepEqual(server.protocolErrors, []);
});
