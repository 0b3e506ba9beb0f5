// What kafkajs throws → what the lane shall do, by the protocol's own names and Node's codes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import kafkajs from 'kafkajs';
import errors from 'kafkajs/src/errors.js';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import { type FaultContext, kafkaFault } from '../../../../adapters/kafka/kafka-fault.ts';
import { BridgeError } from '../../../../src/errors.ts';

const {
  KafkaJSConnectionError,
  KafkaJSNonRetriableError,
  KafkaJSNumberOfRetriesExceeded,
  KafkaJSProtocolError,
  KafkaJSRequestTimeoutError,
} = kafkajs;
const BROKER = 'kafka.example:9092';
const CONTEXT: FaultContext = {
  who: 'sink stream',
  topic: 'maintenance',
  brokers: [BROKER],
  operation: 'produce',
  connected: [BROKER],
  hasWorked: true,
};

/** As `send` throws it. */
function thrown(type: string, retriable = false): Error {
  const known = protocolErrors.errorCodes.find((error) => error.type === type) ?? {
    type,
    code: 1,
    message: 'x',
    retriable,
  };
  const error = new KafkaJSProtocolError({ ...known, name: 'KafkaJSProtocolError', retriable } as never);
  return new KafkaJSNumberOfRetriesExceeded(error, { retryCount: 0, retryTime: 1 });
}

/** As kafkajs wraps whatever it will not try again; its types do not know the cause. */
function wrapped(cause: Error): Error {
  return Object.assign(new KafkaJSNonRetriableError(cause.message), { cause });
}

function faultOf(error: unknown, context: Partial<FaultContext> = {}) {
  const { code, disposition, scope, status, message } = kafkaFault(error, { ...CONTEXT, ...context });
  return { code, disposition, scope, status, message };
}

const PRODUCED: readonly (readonly [type: string, code: string, disposition: string, scope: string])[] = [
  ['MESSAGE_TOO_LARGE', 'BRIDGE_KAFKA_REFUSED', 'refused', 'delivery'],
  ['RECORD_LIST_TOO_LARGE', 'BRIDGE_KAFKA_REFUSED', 'refused', 'delivery'],
  ['INVALID_RECORD', 'BRIDGE_KAFKA_MISCONFIGURED', 'misconfigured', 'delivery'],
  ['POLICY_VIOLATION', 'BRIDGE_KAFKA_MISCONFIGURED', 'misconfigured', 'delivery'],
  ['TOPIC_AUTHORIZATION_FAILED', 'BRIDGE_KAFKA_UNAUTHORIZED', 'misconfigured', 'sink'],
  ['CLUSTER_AUTHORIZATION_FAILED', 'BRIDGE_KAFKA_UNAUTHORIZED', 'misconfigured', 'sink'],
  ['INVALID_TOPIC_EXCEPTION', 'BRIDGE_KAFKA_NO_TOPIC', 'misconfigured', 'sink'],
  ['SASL_AUTHENTICATION_FAILED', 'BRIDGE_KAFKA_UNAUTHENTICATED', 'misconfigured', 'sink'],
  ['UNSUPPORTED_COMPRESSION_TYPE', 'BRIDGE_KAFKA_MISCONFIGURED', 'misconfigured', 'sink'],
  ['UNKNOWN_TOPIC_OR_PARTITION', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['LEADER_NOT_AVAILABLE', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['NOT_LEADER_FOR_PARTITION', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['REQUEST_TIMED_OUT', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['NOT_ENOUGH_REPLICAS', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['KAFKA_STORAGE_ERROR', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['INVALID_TIMESTAMP', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
  ['UNKNOWN', 'BRIDGE_KAFKA_UNAVAILABLE', 'retry', 'delivery'],
];

for (const [type, code, disposition, scope] of PRODUCED) {
  test(`a produce request answered with ${type}: ${disposition}, of the ${scope}`, () => {
    for (const retriable of [true, false]) {
      const { message, ...fault } = faultOf(thrown(type, retriable));
      assert.deepEqual(fault, { code, disposition, scope, status: type });
      assert.match(message, new RegExp(`^sink stream: .+ \\(${type}\\)$`));
    }
  });
}

test('of all that a broker can say, two things alone are for good', () => {
  const types = protocolErrors.errorCodes.map(({ type }) => type);
  assert.ok(types.length > 80);
  assert.deepEqual(types.filter((type) => faultOf(thrown(type)).disposition === 'refused').sort(), [
    'MESSAGE_TOO_LARGE',
    'RECORD_LIST_TOO_LARGE',
  ]);
  for (const operation of ['connect', 'find', 'create', 'consume'] as const)
    for (const type of types)
      assert.notEqual(faultOf(thrown(type), { operation }).disposition, 'refused', `${operation}: ${type}`);
});

test('a topic that metadata do not have is missing, and a policy that forbids to make one is a fault of the configuration', () => {
  assert.equal(faultOf(thrown('UNKNOWN_TOPIC_OR_PARTITION'), { operation: 'find' }).code, 'BRIDGE_KAFKA_NO_TOPIC');
  const { code, disposition, scope, message } = faultOf(thrown('POLICY_VIOLATION'), { operation: 'create' });
  assert.deepEqual([code, disposition, scope], ['BRIDGE_KAFKA_MISCONFIGURED', 'misconfigured', 'sink']);
  assert.match(message, /policy/);
});

test('a code younger than kafkajs is told by its name or number', () => {
  const unknown = (number: number) =>
    new KafkaJSProtocolError({
      type: 'KAFKAJS_UNKNOWN_ERROR_CODE',
      code: -99,
      message: `Unknown error code ${number}`,
    } as never);
  assert.equal(faultOf(unknown(89)).status, 'THROTTLING_QUOTA_EXCEEDED');
  assert.equal(faultOf(unknown(90)).status, 'INVALID_PRODUCER_EPOCH');
  const { status, disposition } = faultOf(unknown(120));
  assert.deepEqual([status, disposition], ['error 120', 'retry']);
});

test('several that failed together are told by the first', () => {
  const together = Object.assign(new Error('Topic creation errors'), {
    errors: [thrown('INVALID_REPLICATION_FACTOR')],
  });
  assert.equal(faultOf(wrapped(together), { operation: 'create' }).status, 'INVALID_REPLICATION_FACTOR');
});

const refused = (broker: string) =>
  new KafkaJSConnectionError('Connection error: connect ECONNREFUSED', { broker, code: 'ECONNREFUSED' });

test('a broker that is away is the whole sink, unless others are connected', () => {
  const alone = faultOf(refused(BROKER), { connected: [] });
  assert.deepEqual(
    [alone.code, alone.disposition, alone.scope, alone.status],
    ['BRIDGE_KAFKA_UNREACHABLE', 'retry', 'sink', 'ECONNREFUSED'],
  );
  assert.match(alone.message, new RegExp(`broker ${BROKER} cannot be reached`));
  const others = faultOf(refused(BROKER), { connected: ['other.example:9092'] });
  assert.deepEqual([others.code, others.scope], ['BRIDGE_KAFKA_UNREACHABLE', 'delivery']);
});

test('an address that only the cluster names is an advertised one: of the sink as long as nothing ever arrived', () => {
  const never = faultOf(refused('10.9.9.9:9092'), { hasWorked: false });
  assert.deepEqual([never.code, never.disposition, never.scope], ['BRIDGE_KAFKA_ADVERTISED', 'retry', 'sink']);
  for (const word of [BROKER, '10.9.9.9:9092', 'advertised.listeners', 'ECONNREFUSED'])
    assert.ok(never.message.includes(word), word);
  assert.equal(faultOf(refused('10.9.9.9:9092')).scope, 'delivery');
  assert.equal(faultOf(refused('10.9.9.9:9092'), { connected: [] }).code, 'BRIDGE_KAFKA_UNREACHABLE');
});

test('a connection that breaks off is a try again; before anything went well it may be the wrong port', () => {
  const closed = new errors.KafkaJSConnectionClosedError('Closed connection', { host: 'kafka.example', port: 9092 });
  const later = faultOf(closed);
  assert.deepEqual([later.code, later.disposition, later.scope], ['BRIDGE_KAFKA_BROKEN', 'retry', 'delivery']);
  const first = faultOf(closed, { operation: 'connect', connected: [], hasWorked: false });
  assert.deepEqual([first.code, first.scope], ['BRIDGE_KAFKA_BROKEN', 'sink']);
  assert.match(first.message, /TLS \(ssl: true\), no TLS, or a login \(sasl\)/);
  const using = (tls: boolean, login: boolean) =>
    faultOf(closed, { operation: 'connect', connected: [], uses: { tls, login } }).message;
  assert.match(
    using(false, false),
    /: this port may need TLS \(ssl: true\), or it may need a login \(sasl\); the broker.s log/,
  );
  assert.match(using(false, true), /: this port may need TLS \(ssl: true\); the broker.s log/);
  assert.match(
    using(true, false),
    /: this port may not use TLS \(.+, or remove ssl\), or it may need a login \(sasl\); the broker.s log/,
  );
  assert.match(using(true, true), /: this port may not use TLS \(.+, or remove ssl\); the broker.s log/);
});

test('no answer in time is a try again', () => {
  for (const error of [
    new KafkaJSRequestTimeoutError('Request Produce(key: 0, version: 7) timed out', {} as never),
    new KafkaJSConnectionError('Connection given up: an earlier request was not answered in time', {
      broker: BROKER,
      code: 'ETIMEDOUT',
    }),
  ]) {
    const { code, disposition, scope, status } = faultOf(
      new KafkaJSNumberOfRetriesExceeded(error, { retryCount: 0, retryTime: 1 }),
    );
    assert.deepEqual([code, disposition, scope, status], ['BRIDGE_KAFKA_TIMEOUT', 'retry', 'delivery', 'timeout']);
  }
});

test('codes of TLS say which certificate to mend', () => {
  const error = new KafkaJSConnectionError('Connection error: certificate has expired', {
    broker: BROKER,
    code: 'CERT_HAS_EXPIRED',
  });
  const { code, disposition, message } = faultOf(error, { connected: [] });
  assert.deepEqual([code, disposition], ['BRIDGE_KAFKA_TLS', 'retry']);
  assert.match(message, /broker kafka\.example:9092 shows a certificate that has expired/);
});

test('an error of ours passes unchanged, however deep', () => {
  const ours = new BridgeError('BRIDGE_KAFKA_TOKEN', 'no token', { disposition: 'misconfigured', scope: 'sink' });
  assert.equal(kafkaFault(ours, CONTEXT), ours);
  assert.equal(kafkaFault(wrapped(wrapped(ours)), CONTEXT), ours);
});

test('what nobody foresaw is told by its kind alone, without what it holds', () => {
  for (const error of [
    new TypeError('payload of an event'),
    'payload of an event',
    Object.assign(new Error('payload of an event'), { payload: 1 }),
  ]) {
    const fault = kafkaFault(error, CONTEXT);
    assert.deepEqual([fault.code, fault.disposition], ['BRIDGE_KAFKA_BROKEN', 'retry']);
    assert.ok(!inspect(fault, { depth: 9 }).includes('payload'), inspect(fault));
  }
});
