// A scripted broker that plays known defects of kafkajs → our client does not have them.
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Admin, type ISocketFactory, Kafka, logLevel } from 'kafkajs';
import Connection from 'kafkajs/src/network/connection.js';
import { kafkaClients } from '../../../../../../adapters/kafka/client/kafka-client.ts';
import { RepairedConnection } from '../../../../../../adapters/kafka/client/repairs/repaired-connection.ts';
import { RepairedRequestQueue } from '../../../../../../adapters/kafka/client/repairs/repaired-request-queue.ts';
import type { KafkaConnectionOptions } from '../../../../../../adapters/kafka/options/connection-options.ts';
import { codeOf } from '../../../../../../src/errors.ts';
import { Secret } from '../../../../../../src/secrets/secret.ts';
import { adapterDeps } from '../../../../../adapters/adapter-deps.ts';
import {
  answer,
  authenticated,
  refused,
  type Script,
  ScriptedBroker,
} from '../../../../../far-sides/kafka/scripted-broker.ts';
import { int16, int32 } from '../../../../../far-sides/kafka/wire.ts';
import { poll } from '../../../../../support/poll.ts';
import { settle, VirtualTime } from '../../../../../virtual/virtual-time.ts';

const DEFAULTS = { clientId: 'test', allowInsecure: true };

async function clientOf(
  t: TestContext,
  brokers: readonly { host: string; port: number }[],
  options: Partial<KafkaConnectionOptions> = {},
) {
  const time = new VirtualTime();
  const deps = adapterDeps({ time });
  const kafka = await kafkaClients({ ...DEFAULTS, ...options, brokers }, deps, 'sinks.test')();
  const admin = kafka.admin();
  t.after(async () => {
    const leaving = admin.disconnect();
    await time.advance(60_000);
    await leaving;
  });
  return { kafka, admin, time, logged: deps.logged };
}

async function connected(t: TestContext, broker: ScriptedBroker, options: Partial<KafkaConnectionOptions> = {}) {
  const client = await clientOf(t, [broker.broker], options);
  await client.admin.connect();
  await client.admin.listTopics();
  return client;
}

const hangUp: Script = ({ socket }) => {
  socket.destroy();
  return [];
};

/** kafkajs's own too. */
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** What it failed with, without the wrapping of the retries that there are none of. */
async function failure(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => assert.fail('it went well'),
    (error: Error) => error,
  );
  return error.name === 'KafkaJSNumberOfRetriesExceeded' ? (error.cause as Error) : error;
}

/** A request on the first connection to which the broker says nothing; the client waits for 10 s. */
async function unanswered(t: TestContext) {
  const broker = await ScriptedBroker.start(t, { keepsHalfOpen: true });
  const { admin, time } = await connected(t, broker, { timeout: 10_000 });
  broker.script = ({ api, connection }) => (api === 'metadata' && connection === 1 ? [] : undefined);
  const asking = failure(admin.listTopics());
  await poll(() => broker.count('metadata') >= 2, 'the request');
  return { broker, admin, time, asking };
}

test('an idle connection has no timer; that of kafkajs itself has two (repair: idle-timer, request-timer)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const before = timers();
  const bare = new Kafka({ brokers: [`127.0.0.1:${broker.port}`], logLevel: logLevel.NOTHING }).admin();
  await bare.connect();
  assert.ok(timers() > before, 'the test sees timers');
  await bare.disconnect();
  const { time } = await connected(t, broker);
  await poll(() => broker.sockets.size === 1, 'the bare client to leave');
  const idle = timers();
  assert.equal(time.pending, 0);
  assert.equal(idle, before);
});

test('a request without an answer fails when its time is over, and the next one goes over a new connection (repair: dead-connection, request-timer)', async (t) => {
  const { broker, admin, time, asking } = await unanswered(t);
  await time.advance(9_999);
  assert.equal(broker.sockets.size, 1);
  await time.advance(1);
  assert.equal((await asking).name, 'KafkaJSRequestTimeoutError');
  assert.deepEqual(await admin.listTopics(), []);
  assert.equal(broker.connections, 2);
  await time.advance(1000);
  const old = broker.requests[0]?.socket;
  const lateAnswer = () => old?.write(answer({ correlationId: 9 }, broker.metadata()));
  await poll(() => lateAnswer() === false || broker.sockets.size === 1, 'the old connection to be nobody any more');
  assert.deepEqual(await admin.listTopics(), []);
  assert.equal(time.pending, 0);
});

test('what a connection says after it was given up is no part of an answer on the next one (repair: late-events)', async (t) => {
  const { broker, admin, time, asking } = await unanswered(t);
  await time.advance(10_000);
  await asking;
  broker.script = (request) => {
    if (request.api !== 'metadata') return undefined;
    const said = answer(request, broker.metadata());
    // The beginning of an answer, on the connection before, and the answer itself once that has arrived.
    broker.requests[0]?.socket.write(said.subarray(0, 10), () => setImmediate(() => request.socket.write(said)));
    return [];
  };
  assert.deepEqual(await admin.listTopics(), []);
});

test('a clock of the wall that jumps ends no request', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const { admin, time } = await connected(t, broker);
  let release = () => {};
  broker.script = (request) => {
    release = () => void request.socket.write(answer(request, broker.metadata()));
    return [];
  };
  const asking = admin.listTopics();
  await poll(() => broker.count('metadata') >= 2, 'the request');
  time.jumpWall(86_400_000);
  await time.advance(1000);
  broker.script = () => undefined;
  release();
  assert.deepEqual(await asking, []);
});

test('what waits behind a request without an answer fails with it, as a connection that timed out (repair: dead-connection)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const { admin, time } = await connected(t, broker);
  broker.script = ({ api }) => (api === 'metadata' ? [] : undefined);
  const first = failure(admin.listTopics());
  await poll(() => broker.count('metadata') >= 2, 'the first request');
  await time.advance(5_000);
  const second = failure(admin.listTopics());
  await poll(() => broker.count('metadata') >= 3, 'the second request');
  await time.advance(5_000);
  assert.equal((await first).name, 'KafkaJSRequestTimeoutError');
  const error = await second;
  assert.deepEqual([error.name, codeOf(error)], ['KafkaJSConnectionError', 'ETIMEDOUT']);
});

test('a throttle of the broker is obeyed for as long as it says, whatever the clock of the wall does (repair: wall-clock)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const { admin, time } = await connected(t, broker);
  const before = broker.count('metadata');
  broker.script = (request) =>
    broker.count('metadata') === before + 1 ? [answer(request, broker.metadata({ throttleMs: 5_000 }))] : undefined;
  const asking = (async () => [await admin.listTopics(), await admin.listTopics()])();
  await poll(() => broker.count('metadata') === before + 1 && time.pending === 1, 'the next request to wait');
  time.jumpWall(3_600_000);
  await time.advance(4_999);
  assert.equal(broker.count('metadata'), before + 1);
  await time.advance(1);
  assert.deepEqual(await asking, [[], []]);
  assert.equal(time.pending, 0);
});

test('a throttle sets no timer while nobody waits, and a request that the socket refuses fails at once (repair: idle-timer, refused-write)', async () => {
  const time = new VirtualTime();
  const parts = {
    instrumentationEmitter: null,
    maxInFlightRequests: null,
    requestTimeout: 1000,
    enforceRequestTimeout: true,
  };
  const logger = new Kafka({ brokers: ['b:1'], logLevel: logLevel.NOTHING }).logger();
  const queue = new RepairedRequestQueue(
    { ...parts, clientId: 'c', broker: 'b:1', logger, isConnected: () => true },
    time,
    () => {},
  );
  queue.maybeThrottle(5_000);
  assert.equal(time.pending, 0);
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const refusal = assert.rejects(promise, /no socket/);
  const sendRequest = () => {
    throw new Error('no socket');
  };
  const entry = { apiKey: 3, apiName: 'Metadata', apiVersion: 6, correlationId: 1, resolve, reject };
  queue.push({ entry, expectResponse: true, sendRequest });
  assert.equal(time.pending, 1);
  await time.advance(5_000);
  await refusal;
  assert.equal(time.pending, 0);
  await queue.waitForPendingRequests();
});

test('requests that find their connection gone open a single new one', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const { admin } = await connected(t, broker);
  broker.cut();
  await poll(() => broker.sockets.size === 0, 'the cut');
  await admin.listTopics().catch(() => {});
  const before = broker.connections;
  broker.cut();
  await poll(() => broker.sockets.size === 0, 'the second cut');
  await Promise.allSettled([1, 2, 3, 4].map(() => admin.listTopics()));
  assert.deepEqual(await admin.listTopics(), []);
  assert.ok(broker.connections - before <= 2, `${broker.connections - before} connections`);
  assert.equal(broker.sockets.size, 1);
});

test('half an answer before the end of a connection is no part of the first answer on the next one (repair: stale-buffer)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const { admin } = await connected(t, broker);
  broker.script = (request) => {
    request.socket.end(answer(request, broker.metadata()).subarray(0, 20));
    return [];
  };
  assert.equal((await failure(admin.listTopics())).name, 'KafkaJSConnectionClosedError');
  broker.script = () => undefined;
  assert.deepEqual(await admin.listTopics(), []);
});

for (const [what, bytes, code, repair] of [
  ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'NOT_A_BROKER', 'foreign-protocol'],
  ['a TLS alert', Buffer.from([0x15, 3, 3, 0, 2, 2, 40]), 'BROKER_SPEAKS_TLS', 'foreign-protocol'],
  ['an answer too short to be one', Buffer.concat([int32(2), int16(0)]), undefined, 'unreadable-answer'],
] as const) {
  test(`${what} in place of an answer fails the connection at once, and nothing else (repair: ${repair})`, async (t) => {
    const broker = await ScriptedBroker.start(t);
    const { admin } = await clientOf(t, [broker.broker]);
    broker.script = () => [bytes];
    const error = await failure(admin.connect());
    assert.deepEqual([error.name, codeOf(error)], ['KafkaJSConnectionError', code]);
    broker.script = () => undefined;
    await admin.connect();
    assert.deepEqual(await admin.listTopics(), []);
  });
}

test('a connection that is not made in time is given up, and its socket with it (repair: half-open)', async (t) => {
  const sockets = new Set<unknown>();
  const silent = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const { port } = silent.address() as { port: number };
  const { admin, time } = await clientOf(t, [{ host: '127.0.0.1', port }], { ssl: true });
  const connecting = failure(admin.connect());
  await poll(() => sockets.size === 1, 'the socket');
  await time.advance(10_000);
  assert.equal(codeOf(await connecting), 'ETIMEDOUT');
  await poll(() => sockets.size === 0, 'the socket to go');
});

test('what is asked while a client leaves goes over a new connection, and the old one ends (repair: one-socket)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const { admin } = await connected(t, broker);
  let release = () => {};
  broker.script = (request) => {
    release = () => void request.socket.write(answer(request, broker.metadata()));
    return [];
  };
  const asking = admin.listTopics();
  await poll(() => broker.count('metadata') >= 2, 'the request');
  const leaving = admin.disconnect();
  broker.script = () => undefined;
  const returning = admin.connect();
  release();
  await Promise.allSettled([asking, leaving, returning]);
  await admin.connect();
  assert.deepEqual(await admin.listTopics(), []);
  await poll(() => broker.sockets.size <= 2, 'the old connection to end');
});

test('a connection that closes takes nothing more, and the next request waits for a new one (repair: closing)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  const [time, logger] = [new VirtualTime(), new Kafka({ brokers: ['b:1'], logLevel: logLevel.NOTHING }).logger()];
  const socketFactory: ISocketFactory = ({ onConnect, ...to }) => connect(to, onConnect);
  const limits = {
    requestTimeout: 1000,
    reauthenticationThreshold: 0,
    connectionTimeout: 1000,
    enforceRequestTimeout: false,
  };
  const own = { ...broker.broker, logger, socketFactory, rack: null, ssl: null, sasl: null, clientId: 'c' };
  const original = new Connection({ ...own, ...limits, maxInFlightRequests: null, instrumentationEmitter: null });
  const connection = new RepairedConnection(original, broker.broker.host, time);
  await connection.connect();
  const { promise: answered, resolve, reject } = Promise.withResolvers<unknown>();
  const entry = { apiKey: 3, apiName: 'Metadata', apiVersion: 6, correlationId: 1, resolve, reject };
  connection.requestQueue.push({ entry, expectResponse: true, sendRequest: () => {} });
  const closing = connection.disconnect();
  assert.equal(connection.isConnected(), false);
  const returning = connection.connect();
  await settle();
  assert.equal(broker.connections, 1);
  connection.requestQueue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 });
  await Promise.all([answered, closing, returning]);
  assert.deepEqual([connection.isConnected(), connection.socket?.connecting], [true, false]);
  await poll(() => broker.connections === 2, 'the new connection');
  await connection.disconnect();
});

test('a broker of the list that never answers, or is not there, does not keep the others from being tried (repair: first-broker)', async (t) => {
  const [silent, gone, well] = await Promise.all([
    ScriptedBroker.start(t),
    ScriptedBroker.start(t),
    ScriptedBroker.start(t),
  ]);
  silent.script = () => [];
  const absent = gone.broker;
  await gone.stop();
  const { admin, time } = await clientOf(t, [silent.broker, absent, well.broker]);
  const connecting = admin.connect();
  await poll(() => silent.requests.length === 1, 'the first try');
  await time.advance(10_000);
  await connecting;
  assert.deepEqual(await admin.listTopics(), []);
});

test('each broker of the list is tried once, and the last failure is told (repair: first-broker)', async (t) => {
  const brokers = await Promise.all([ScriptedBroker.start(t), ScriptedBroker.start(t)]);
  for (const broker of brokers) broker.script = hangUp;
  const { admin } = await clientOf(
    t,
    brokers.map(({ broker }) => broker),
  );
  assert.equal((await failure(admin.connect())).name, 'KafkaJSConnectionClosedError');
  assert.deepEqual(
    brokers.map(({ connections }) => connections),
    [1, 1],
  );
});

test('if the first broker is unreachable, another one is asked for the coordinator of a group (repair: every-broker)', async (t) => {
  const [first, second] = await Promise.all([ScriptedBroker.start(t), ScriptedBroker.start(t)]);
  const brokers = [first.broker, second.broker];
  for (const broker of [first, second]) {
    broker.script = (request) => {
      if (request.api === 'findCoordinator') return hangUp(request);
      return request.api === 'metadata' ? [answer(request, broker.metadata({ brokers }))] : undefined;
    };
  }
  const { admin } = await connected(t, first);
  await first.stop();
  assert.equal((await failure(admin.describeGroups(['bridges']))).name, 'KafkaJSConnectionClosedError');
  assert.equal(second.count('findCoordinator'), 1);
});

test('an address of IPv6 is reached, and shown in brackets (repair: ipv6)', async (t) => {
  const broker = await ScriptedBroker.start(t, { host: '::1' });
  const { admin } = await connected(t, broker);
  assert.equal(broker.connections, 1, 'the address that the broker tells is known to be the same');
  const { port } = broker;
  await broker.stop();
  const error = await failure(admin.listTopics());
  assert.equal('broker' in error && error.broker, `[::1]:${port}`);
});

const password = (text: string) => {
  const secret = new Secret({ env: 'PASSWORD' });
  secret.open(text);
  return secret;
};
const login = () => ({ sasl: { mechanism: 'plain', username: 'writer', password: password('hidden') } }) as const;

test('after a login that was refused the next try goes over a new connection, and may go well (repair: failed-login)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  broker.script = (request) => (request.api === 'saslAuthenticate' ? [answer(request, refused('wrong'))] : undefined);
  const { admin } = await clientOf(t, [broker.broker], login());
  assert.equal((await failure(admin.connect())).name, 'KafkaJSSASLAuthenticationError');
  broker.script = () => undefined;
  await admin.connect();
  assert.deepEqual(await admin.listTopics(), []);
  assert.equal(
    new Set(broker.requests.filter(({ api }) => api === 'saslAuthenticate').map(({ connection }) => connection)).size,
    2,
  );
});

test('a login that one broker refuses is not tried at the others: it would count against the user there', async (t) => {
  const [strict, other] = await Promise.all([ScriptedBroker.start(t), ScriptedBroker.start(t)]);
  strict.script = (request) => (request.api === 'saslAuthenticate' ? [answer(request, refused('wrong'))] : undefined);
  const { admin } = await clientOf(t, [strict.broker, other.broker], login());
  assert.equal((await failure(admin.connect())).name, 'KafkaJSSASLAuthenticationError');
  assert.deepEqual([strict.connections, other.connections], [1, 0]);
});

test('a connection that breaks off during the login is no wrong password (repair: broken-login)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  broker.script = (request) => (request.api === 'saslAuthenticate' ? hangUp(request) : undefined);
  const { admin } = await clientOf(t, [broker.broker], login());
  assert.equal((await failure(admin.connect())).name, 'KafkaJSConnectionClosedError');
});

test('a session shorter than ten seconds is not renewed before each request (repair: short-session)', async (t) => {
  const broker = await ScriptedBroker.start(t);
  broker.script = (request) =>
    request.api === 'saslAuthenticate' ? [answer(request, authenticated(9_000))] : undefined;
  const { admin } = await connected(t, broker, login());
  for (let round = 0; round < 3; round += 1) await admin.listTopics();
  assert.equal(broker.count('saslAuthenticate'), 1);
});

test('a client that somebody else makes stays as kafkajs made it', async (t) => {
  const broker = await ScriptedBroker.start(t);
  await connected(t, broker);
  const before = timers();
  const bare: Admin = new Kafka({ brokers: [`127.0.0.1:${broker.port}`], logLevel: logLevel.NOTHING }).admin();
  await bare.connect();
  assert.ok(timers() > before);
  await bare.disconnect();
});
