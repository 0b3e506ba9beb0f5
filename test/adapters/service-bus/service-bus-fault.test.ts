// All that service, tokens, links, connections can answer → what the real adapter makes of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionFault, type FaultPlace, serviceBusFault } from '../../../adapters/service-bus/service-bus-fault.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { ServiceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { failed } from '../contract.ts';
import { QUEUE, startServiceBus } from './start-service-bus.ts';

interface Expected {
  readonly code: string;
  readonly disposition: string;
  readonly scope: string;
  readonly status: unknown;
  readonly retryAfterMs?: number;
  readonly says: RegExp;
}

const ALWAYS = { times: Number.POSITIVE_INFINITY };
const MISCONFIGURED = { disposition: 'misconfigured', scope: 'sink' };
const RETRY = { disposition: 'retry', scope: 'delivery' };
const AWAY = { disposition: 'retry', scope: 'sink' };

/** What is ordered of the server before the delivery → what the delivery fails with. */
const ANSWERS: Readonly<Record<string, readonly [order: (server: ServiceBusServer) => void, expected: Expected]>> = {
  'a queue without room': [
    (server) => server.faults.rejectSends('quotaExceeded', ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_QUOTA',
      ...MISCONFIGURED,
      status: 'QuotaExceeded',
      says: /no space left for the queue maintenance.*TrackingId 5b0c/,
    },
  ],
  'a busy server that names a pause': [
    (server) => server.faults.rejectSends('serverBusy', ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_BUSY',
      ...AWAY,
      retryAfterMs: 2000,
      status: 'ServiceBusy',
      says: /busy and asks for a pause/,
    },
  ],
  'a busy server that names none': [
    (server) => server.faults.rejectSends({ condition: 'com.microsoft:server-busy', description: 'busy' }, ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_BUSY', ...AWAY, retryAfterMs: 10_000, status: 'ServiceBusy', says: /busy/ },
  ],
  'an internal error': [
    (server) => server.faults.rejectSends('internalError', ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE',
      ...RETRY,
      status: 'InternalServerError',
      says: /did not accept the message/,
    },
  ],
  'a time-out of the service’s own': [
    (server) => server.faults.rejectSends('timeout', ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_TIMEOUT', ...RETRY, status: 'ServiceTimeout', says: /no answer in time/ },
  ],
  'a message that is too large': [
    (server) => server.faults.rejectSends('tooLarge', ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_TOO_LARGE',
      disposition: 'refused',
      scope: 'delivery',
      status: 'MessageSizeExceeded',
      says: /becomes a dead letter/,
    },
  ],
  'a disabled queue': [
    (server) => server.setStatus(QUEUE, 'disabled'),
    {
      code: 'BRIDGE_SERVICE_BUS_ENTITY',
      ...MISCONFIGURED,
      status: 'MessagingEntityDisabled',
      says: /has disabled the queue maintenance: enable it/,
    },
  ],
  'a queue that is disabled for sending, told at the send': [
    (server) => server.faults.rejectSends('disabled', ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_ENTITY', ...MISCONFIGURED, status: 'MessagingEntityDisabled', says: /enable it/ },
  ],
  'a queue that is not there': [
    (server) => server.delete(QUEUE),
    {
      code: 'BRIDGE_SERVICE_BUS_ENTITY',
      ...MISCONFIGURED,
      status: 'MessagingEntityNotFound',
      says: /has no queue maintenance: correct the name, or create it/,
    },
  ],
  'a right that is missing, told at the link': [
    (server) => server.faults.onAttach({ do: 'refuse', with: 'unauthorized' }, ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
      ...MISCONFIGURED,
      status: 'UnauthorizedAccess',
      says: /role "Azure Service Bus Data Sender"/,
    },
  ],
  'a right that is missing, told at the send': [
    (server) => server.faults.rejectSends('unauthorized', ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
      ...MISCONFIGURED,
      status: 'UnauthorizedAccess',
      says: /does not allow this operation on the queue maintenance/,
    },
  ],
  'a token that is not accepted': [
    (server) =>
      server.faults.onToken(
        { do: 'answer', status: 401, description: 'InvalidSignature: The token has an invalid signature.' },
        ALWAYS,
      ),
    {
      code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
      ...MISCONFIGURED,
      status: 'UnauthorizedAccess',
      says: /does not accept the token: check the key/,
    },
  ],
  'a token for a queue that is not there': [
    (server) =>
      server.faults.onToken(
        { do: 'answer', status: 404, description: "The messaging entity 'sb://x/q' could not be found." },
        ALWAYS,
      ),
    {
      code: 'BRIDGE_SERVICE_BUS_ENTITY',
      ...MISCONFIGURED,
      status: 'MessagingEntityNotFound',
      says: /has no queue maintenance/,
    },
  ],
  'a message that is released': [
    (server) => server.faults.onSend({ do: 'release' }, ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE',
      ...RETRY,
      status: 'SendOperationFailedError',
      says: /the bridge retries/,
    },
  ],
  'a message that is modified': [
    (server) => server.faults.onSend({ do: 'modify' }, ALWAYS),
    {
      code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE',
      ...RETRY,
      status: 'SendOperationFailedError',
      says: /the bridge retries/,
    },
  ],
  'an operation that is not allowed': [
    (server) => server.faults.rejectSends('notAllowed', ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE', ...RETRY, status: 'InvalidOperationError', says: /did not accept/ },
  ],
  'a condition that nobody knows': [
    (server) => server.faults.rejectSends({ condition: 'com.microsoft:new-trouble', description: 'hidden' }, ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE', ...RETRY, status: 'GeneralError', says: /the bridge retries/ },
  ],
  'a connection that is cut during the send': [
    (server) => server.faults.onSend({ do: 'drop' }, ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_BROKEN', ...AWAY, status: undefined, says: /closed the connection without an answer/ },
  ],
  'a connection that is cut while the token is shown': [
    (server) => server.faults.onToken({ do: 'drop' }, ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_BROKEN', ...AWAY, status: undefined, says: /closed the connection/ },
  ],
  'a connection that is cut while the link is attached': [
    (server) => server.faults.onAttach({ do: 'drop' }, ALWAYS),
    { code: 'BRIDGE_SERVICE_BUS_BROKEN', ...AWAY, status: undefined, says: /closed the connection/ },
  ],
};

for (const [what, [order, { says, ...expected }]] of Object.entries(ANSWERS)) {
  test(`${what} is ${expected.code}: ${expected.disposition}, for the ${expected.scope}`, async (t) => {
    const { server, deliver } = await startServiceBus(t);
    order(server);
    const { code, disposition, scope, status, retryAfterMs, message } = failed(await deliver());
    assert.deepEqual({ code, disposition, scope, status, retryAfterMs }, { retryAfterMs: undefined, ...expected });
    assert.match(message, says);
    assert.match(message, /^sink under-test: 127\.0\.0\.1:\d+ /);
    assert.doesNotMatch(message, /hidden/);
    assert.deepEqual(server.protocolErrors, []);
  });
}

/** Silences that only our own time limit ends; `reached`: the server got that far. */
const SILENCES: Readonly<
  Record<string, readonly [order: (server: ServiceBusServer) => void, reached: (server: ServiceBusServer) => boolean]>
> = {
  'a send': [(server) => server.faults.onSend({ do: 'ignore' }), (server) => server.contacts('send').length > 0],
  'a send, by the link’s detachment': [
    (server) => server.faults.onSend({ do: 'detach' }),
    (server) => server.contacts('send').length > 0,
  ],
  'a token': [(server) => server.faults.onToken({ do: 'ignore' }), (server) => server.contacts('put-token').length > 0],
  'a link': [(server) => server.faults.onAttach({ do: 'ignore' }), (server) => server.contacts('put-token').length > 0],
  'a connection': [
    (server) => {
      server.silent = true;
    },
    (server) => server.contacts('connection').length > 0,
  ],
};

for (const [what, [order, reached]] of Object.entries(SILENCES)) {
  test(`${what} without an answer fails at the time limit, and the next send succeeds on a new connection`, async (t) => {
    const time = new VirtualTime();
    const { server, deliver } = await startServiceBus(t, { time });
    order(server);
    const outcome = deliver();
    await poll(() => reached(server), 'the silence');
    await time.advance(9_999);
    assert.equal(await Promise.race([outcome, 'still waiting']), 'still waiting');
    await time.advance(1);
    const { code, disposition, scope, status, message } = failed(await outcome);
    assert.deepEqual(
      [code, disposition, scope, status],
      ['BRIDGE_SERVICE_BUS_TIMEOUT', 'retry', 'delivery', 'timeout'],
    );
    assert.match(message, /within 10s/);
    server.silent = false;
    assert.equal(await deliver(), 'accepted');
    // What hangs is cut off: the SDK alone would keep it for ever.
    await time.advance(2_000);
    await poll(() => server.open === 1, 'the old connection to go');
  });
}

test('a missing session is reported with the advice to set sessions: true', async (t) => {
  const { server, deliver } = await startServiceBus(t, { options: { queue: 'with-sessions' } });
  server.queue('with-sessions', { sessions: true });
  const { code, disposition, message } = failed(await deliver());
  assert.deepEqual([code, disposition], ['BRIDGE_SERVICE_BUS_ENTITY', 'misconfigured']);
  assert.match(message, /requires a session .*sessions: true/);
});

test('a port without a listener is reported as such', async (t) => {
  const { server, deliver } = await startServiceBus(t);
  await server.leave();
  const refused = failed(await deliver());
  assert.deepEqual(
    [refused.code, refused.scope, refused.status],
    ['BRIDGE_SERVICE_BUS_UNREACHABLE', 'sink', 'ECONNREFUSED'],
  );
  assert.match(refused.message, /cannot be reached.*transport: websocket/);
});

const PLACE: FaultPlace = { who: 'sink bus: h', entity: 'queue q', operation: 'send', role: 'r' };

test('of several attempts in one error the last one counts, at any depth, and the flag `retryable` is ignored', () => {
  const busy = Object.assign(new Error('busy'), { name: 'ServiceBusError', code: 'ServiceBusy', retryable: false });
  const timeout = Object.assign(new Error('late'), {
    name: 'ServiceBusError',
    code: 'ServiceTimeout',
    retryable: true,
  });
  const fault = serviceBusFault(new AggregateError([timeout, new AggregateError([timeout, busy])]), PLACE);
  assert.deepEqual([fault.code, fault.retryAfterMs], ['BRIDGE_SERVICE_BUS_BUSY', 10_000]);
});

test('if several addresses fail, the code of the first one is reported', () => {
  const each = ['EHOSTUNREACH', 'ECONNREFUSED'].map((code) => Object.assign(new Error(code), { code }));
  const fault = connectionFault(Object.assign(new AggregateError(each), { code: 'EHOSTUNREACH' }), PLACE);
  assert.deepEqual([fault.code, fault.status], ['BRIDGE_SERVICE_BUS_UNREACHABLE', 'EHOSTUNREACH']);
});

test('an unknown name is reported as such', () => {
  const fault = connectionFault(Object.assign(new Error('getaddrinfo ENOTFOUND h'), { code: 'ENOTFOUND' }), PLACE);
  assert.deepEqual([fault.code, fault.scope, fault.status], ['BRIDGE_SERVICE_BUS_UNREACHABLE', 'sink', 'ENOTFOUND']);
  assert.match(fault.message, /^sink bus: h cannot be reached: the name h could not be resolved \(ENOTFOUND/);
});

test('what the SDK calls a GeneralError is judged by the code before its message', () => {
  for (const [message, code] of [
    ['ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1', 'BRIDGE_SERVICE_BUS_UNREACHABLE'],
    ['ENOTFOUND: getaddrinfo ENOTFOUND x', 'BRIDGE_SERVICE_BUS_UNREACHABLE'],
    ['ResourceDeletedError: gone', 'BRIDGE_SERVICE_BUS_ENTITY'],
    ['SenderBusyError: no credit', 'BRIDGE_SERVICE_BUS_UNAVAILABLE'],
  ] as const) {
    const error = Object.assign(new Error(message), {
      name: 'ServiceBusError',
      code: 'GeneralError',
      retryable: false,
    });
    assert.equal(serviceBusFault(error, PLACE).code, code);
  }
});

test('a BridgeError, such as that of a credential, passes unchanged', () => {
  const error = new BridgeError('BRIDGE_AZURE_REFUSED', 'no identity', { disposition: 'misconfigured' });
  assert.equal(serviceBusFault(error, PLACE), error);
});
