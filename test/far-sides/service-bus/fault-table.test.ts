// Each fault that the test server plays → what the unmodified SDK makes of it, with two retries.
import assert from 'node:assert/strict';
import test, { suite, type TestContext } from 'node:test';
import type { ServiceBusError } from '@azure/service-bus';
import { sdkClient } from './sdk-client.ts';
import { serviceBusServer } from './service-bus-server.ts';

const RETRIES = { maxRetries: 2, retryDelayInMs: 10, maxRetryDelayInMs: 10 };

/** So long that a busy machine can connect in it, for what is waited for in vain. */
const IMPATIENT = { timeoutInMs: 1000 };
const PATIENT = { timeoutInMs: 20_000 };

/** A queue, and a sender that tries three times. */
async function retrying(t: TestContext, patience = PATIENT) {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  const client = sdkClient(server, { retryOptions: { ...RETRIES, ...patience } });
  return { server, queue, client, sender: client.createSender('q') };
}

/** What a send failed with, in the table's words. */
async function failureOf(sending: Promise<unknown>): Promise<readonly unknown[]> {
  const error = await sending.then(
    () => assert.fail('the send succeeded'),
    (error: unknown) => error,
  );
  if (error instanceof AggregateError)
    return ['AggregateError', (error.errors as ServiceBusError[]).map(({ code }) => code)];
  const { code, retryable } = error as ServiceBusError;
  return [code, retryable];
}

const FOR_EVER = { times: Number.POSITIVE_INFINITY };

const REFUSALS = [
  { refusal: 'quotaExceeded', failure: ['QuotaExceeded', false], tries: 1 },
  { refusal: 'tooLarge', failure: ['MessageSizeExceeded', false], tries: 1 },
  { refusal: 'disabled', failure: ['MessagingEntityDisabled', false], tries: 1 },
  { refusal: 'notFound', failure: ['MessagingEntityNotFound', false], tries: 1 },
  { refusal: 'notAllowed', failure: ['GeneralError', false], tries: 1 },
  { refusal: 'serverBusy', failure: ['AggregateError', ['ServiceBusy', 'ServiceBusy', 'ServiceBusy']], tries: 3 },
  { refusal: 'timeout', failure: ['AggregateError', ['ServiceTimeout', 'ServiceTimeout', 'ServiceTimeout']], tries: 3 },
  {
    refusal: 'unauthorized',
    failure: ['AggregateError', ['UnauthorizedAccess', 'UnauthorizedAccess', 'UnauthorizedAccess']],
    tries: 3,
  },
] as const;

for (const { refusal, failure, tries } of REFUSALS) {
  test(`transfers rejected as ${refusal} fail as ${failure[0]} after ${tries} attempts`, async (t) => {
    const { server, queue, sender } = await retrying(t);
    server.faults.rejectSends(refusal, FOR_EVER);
    assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), failure);
    assert.equal(server.contacts('send').length, tries);
    assert.deepEqual(queue.messages(), []);
  });
}

for (const refusal of ['serverBusy', 'internalError'] as const) {
  test(`a transfer rejected once as ${refusal} is sent again and stored once`, async (t) => {
    const { server, queue, sender } = await retrying(t);
    server.faults.rejectSends(refusal);
    await sender.sendMessages({ body: 1 });
    assert.deepEqual([queue.messages().length, server.contacts('send').length], [1, 2]);
  });
}

for (const outcome of ['release', 'modify'] as const) {
  test(`a transfer that the server ends with ${outcome} fails at once, without a retry`, async (t) => {
    const { server, queue, sender } = await retrying(t);
    server.faults.onSend({ do: outcome });
    assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), ['GeneralError', false]);
    await sender.sendMessages({ body: 2 });
    assert.deepEqual(
      queue.messages().map(({ json }) => json),
      [2],
    );
  });
}

test('the next send reopens a connection that was cut while idle', async (t) => {
  const { server, queue, sender } = await retrying(t);
  await sender.sendMessages({ body: 1 });
  server.cutConnections();
  await server.until(() => server.open === 0, 'no connection');
  await sender.sendMessages({ body: 2 });
  assert.deepEqual([queue.messages().length, server.contacts('connection').length], [2, 2]);
});

test('a closed port fails at once, without a retry; the same client works once the port is open', async (t) => {
  const { server, queue, sender } = await retrying(t);
  await server.leave();
  const error = await sender.sendMessages({ body: 1 }).catch((error: unknown) => error as ServiceBusError);
  assert.match(String(error), /ECONNREFUSED/);
  assert.deepEqual([(error as ServiceBusError).code, (error as ServiceBusError).retryable], ['GeneralError', false]);
  await server.comeBack();
  await sender.sendMessages({ body: 2 });
  assert.deepEqual(
    queue.messages().map(({ json }) => json),
    [2],
  );
});

test('a refused token fails as unauthorized, an unknown audience as a missing entity', async (t) => {
  const { server, sender } = await retrying(t);
  server.faults.onToken(
    { do: 'answer', status: 401, description: 'InvalidSignature: The token has an invalid signature.' },
    { times: 3 },
  );
  const unauthorized = ['UnauthorizedAccess', 'UnauthorizedAccess', 'UnauthorizedAccess'];
  assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), ['AggregateError', unauthorized]);
  server.faults.onToken({ do: 'answer', status: 404, description: 'status-code: 404, the namespace is not known' });
  assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), ['MessagingEntityNotFound', false]);
  await sender.sendMessages({ body: 1 });
});

test('server-busy for a minute ends after a minute', async (t) => {
  const server = await serviceBusServer(t);
  const queue = server.queue('q');
  const sender = sdkClient(server).createSender('q');
  server.faults.busyFor('1m');
  assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), ['ServiceBusy', true]);
  server.clock.advance('59s');
  assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), ['ServiceBusy', true]);
  server.clock.advance('2s');
  await sender.sendMessages({ body: 1 });
  assert.equal(queue.messages().length, 1);
});

test('an idle link is detached after ten minutes and its connection closed five minutes later; the next send recreates both', async (t) => {
  const { server, queue, sender } = await retrying(t);
  await sender.sendMessages({ body: 1 });
  server.clock.advance('9m');
  assert.deepEqual(server.contacts('detach'), []);
  server.clock.advance('61s');
  await server.until(() => server.links === 0, 'a detached link');
  await sender.sendMessages({ body: 2 });
  server.clock.advance('11m');
  await server.until(() => server.links === 0, 'a detached link');
  server.clock.advance('6m');
  await server.until(() => server.open === 0, 'a closed connection');
  await sender.sendMessages({ body: 3 });
  assert.deepEqual([queue.messages().length, server.contacts('connection').length], [3, 2]);
});

test('a connection without a link is closed after a minute', async (t) => {
  const { server, sender } = await retrying(t);
  server.faults.onToken({ do: 'ignore' });
  const sending = sender.sendMessages({ body: 1 }).catch(() => {});
  await server.until(() => server.contacts('put-token').length === 1, 'a token');
  server.clock.advance('59s');
  assert.equal(server.open, 1);
  server.answerHeldTokens();
  server.clock.advance('2s');
  await server.until(() => server.contacts('close').length === 1, 'a closed connection');
  await sending;
});

test('the next send reopens a connection closed by force', async (t) => {
  const { server, queue, sender } = await retrying(t);
  await sender.sendMessages({ body: 1 });
  server.closeConnections();
  await server.until(() => server.open === 0, 'a closed connection');
  await sender.sendMessages({ body: 2 });
  assert.equal(queue.messages().length, 2);
});

test('a refused attach fails with its condition, and an attach that is cut off fails at once without a code', async (t) => {
  const { server, queue, sender } = await retrying(t);
  server.faults.onAttach({ do: 'refuse', with: 'disabled' });
  assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), ['MessagingEntityDisabled', false]);
  server.faults.onAttach({ do: 'drop' });
  assert.deepEqual(await failureOf(sender.sendMessages({ body: 2 })), [undefined, undefined]);
  await sender.sendMessages({ body: 3 });
  assert.equal(queue.messages().length, 1);
});

test('a fault can be requested for one entity, for a number of times, and withdrawn', async (t) => {
  const server = await serviceBusServer(t);
  const client = sdkClient(server);
  const [one, other] = [server.queue('one'), server.queue('other')];
  server.faults.rejectSends('quotaExceeded', { entity: 'ONE', times: 2 });
  await client.createSender('other').sendMessages({ body: 1 });
  const sender = client.createSender('one');
  await assert.rejects(sender.sendMessages({ body: 2 }), { code: 'QuotaExceeded' });
  server.faults.clear();
  await sender.sendMessages({ body: 3 });
  assert.deepEqual([one.messages().length, other.messages().length], [1, 1]);
});

suite('what the SDK waits for in vain', { concurrency: true }, () => {
  test('a transfer without disposition is retried after each time-out, and may be stored more than once', async (t) => {
    const { server, queue, sender } = await retrying(t, IMPATIENT);
    server.faults.onSend({ do: 'ignore', stored: true }, FOR_EVER);
    const failure = await failureOf(sender.sendMessages({ body: 1 }));
    assert.deepEqual(failure, ['AggregateError', ['ServiceTimeout', 'ServiceTimeout', 'ServiceTimeout']]);
    assert.equal(queue.messages().length, 3);
  });

  for (const fault of ['detach', 'drop'] as const) {
    for (const stored of [false, true]) {
      test(`after ${fault} during a send, with the message ${stored ? 'stored' : 'not stored'}, the client sends the same message again`, async (t) => {
        const { server, queue, sender } = await retrying(t, IMPATIENT);
        server.faults.onSend({ do: fault, stored });
        await sender.sendMessages({ messageId: 'm', body: 1 });
        assert.deepEqual(
          queue.messages().map(({ messageId }) => messageId),
          stored ? ['m', 'm'] : ['m'],
        );
        assert.deepEqual(
          server.contacts('send').map(({ outcome }) => outcome),
          [fault, 'accepted'],
        );
      });
    }
  }

  test('with duplicate detection, a message sent again after a cut is stored once', async (t) => {
    const server = await serviceBusServer(t);
    const queue = server.queue('q', { duplicateDetection: '10m' });
    const sender = sdkClient(server, { retryOptions: { ...RETRIES, ...IMPATIENT } }).createSender('q');
    server.faults.onSend({ do: 'drop', stored: true });
    await sender.sendMessages({ messageId: 'm', body: 1 });
    assert.equal(queue.messages().length, 1);
  });

  test('a put-token that is never answered times out', async (t) => {
    const { server, sender } = await retrying(t, IMPATIENT);
    server.faults.onToken({ do: 'ignore' }, FOR_EVER);
    const failure = await failureOf(sender.sendMessages({ body: 1 }));
    assert.deepEqual(failure, ['AggregateError', ['ServiceTimeout', 'ServiceTimeout', 'ServiceTimeout']]);
    assert.deepEqual(
      server.contacts('put-token').map(({ status }) => status),
      [null],
    );
  });

  test('an attach that is never answered blocks its client, but not a new one', async (t) => {
    const { server, queue, sender } = await retrying(t, IMPATIENT);
    const timeOuts = ['AggregateError', ['ServiceTimeout', 'ServiceTimeout', 'ServiceTimeout']];
    server.faults.onAttach({ do: 'ignore' });
    assert.deepEqual(await failureOf(sender.sendMessages({ body: 1 })), timeOuts);
    assert.deepEqual(await failureOf(sender.sendMessages({ body: 2 })), timeOuts);
    await sdkClient(server).createSender('q').sendMessages({ body: 3 });
    assert.deepEqual(
      queue.messages().map(({ json }) => json),
      [3],
    );
  });

  test('a server that accepts connections and sends nothing is a time-out', async (t) => {
    const { server, sender } = await retrying(t, IMPATIENT);
    server.silent = true;
    const [code] = await failureOf(sender.sendMessages({ body: 1 }));
    assert.equal(code, 'AggregateError');
  });
});
