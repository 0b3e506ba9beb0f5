// A sink's check at a real broker, with faults → which step failed, what to do, and no record.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { USERS } from '../../far-sides/kafka/security.ts';
import { sharedKafka, withoutKafka, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { createSink, type SinkSetup, startSink } from './start-kafka.ts';

const never = new AbortController().signal;
const asWriter = { sasl: { mechanism: 'plain', username: 'writer', password: { env: 'PASSWORD' } } };
const secrets = { PASSWORD: USERS.writer };

test('a check reports a topic with a single replica', { skip: withoutKafka }, async (t) => {
  const { adapter, proxy, records } = await startSink(t, { topic: { partitions: 3 } });
  assert.match((await adapter.check(never)) ?? '', /^topic \S+ has only one replica/);
  assert.equal(proxy.count('produce'), 0);
  assert.deepEqual(await records(), []);
});

test('a check reports that a compacted topic rejects records without a key; they wait until the topic is corrected', {
  skip: withoutKafka,
}, async (t) => {
  const { adapter, deliver } = await startSink(t, {
    topic: { config: { 'cleanup.policy': 'compact' } },
    options: { keyed: false },
  });
  assert.match((await adapter.check(never)) ?? '', /is compacted and rejects records without a key: set keyed: true$/);
  const { code, disposition, scope, status } = failed((await deliver({ seq: 1 }))[0]);
  assert.deepEqual(
    { code, disposition, scope, status },
    { code: 'BRIDGE_KAFKA_MISCONFIGURED', disposition: 'misconfigured', scope: 'delivery', status: 'INVALID_RECORD' },
  );
});

test('nothing stays open after a check', { skip: withoutKafka }, async (t) => {
  const { adapter, proxy } = await startSink(t, { options: { idempotent: true } });
  await adapter.check(never);
  await adapter.check(never);
  assert.ok(proxy.connections >= 2);
  await poll(() => proxy.open === 0, 'the connections to close');
});

test('a check and a delivery report a user who may read and not write', { skip: withoutOurKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  await kafka.deny({ resource: 'topic', name: topic, user: 'writer', operation: 'write' });
  const { adapter, deliver } = createSink(t, {
    options: { brokers: [...kafka.listener('SASL')], topic, ...asWriter },
    secrets,
  });
  const expected = {
    code: 'BRIDGE_KAFKA_UNAUTHORIZED',
    disposition: 'misconfigured',
    scope: 'sink',
    status: 'TOPIC_AUTHORIZATION_FAILED',
  };
  await assert.rejects(adapter.check(never), {
    ...expected,
    message: new RegExp(`lacks the right WRITE on topic ${topic}`),
  });
  const { code, disposition, scope, status, message } = failed((await deliver({ seq: 1 }))[0]);
  assert.deepEqual({ code, disposition, scope, status }, expected);
  assert.match(message, /lacks the right WRITE/);
});

test('a check reports a user who may not describe the topic', { skip: withoutOurKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  for (const operation of ['write', 'describe', 'read', 'alterConfigs'] as const)
    await kafka.deny({ resource: 'topic', name: topic, user: 'writer', operation });
  const { adapter } = createSink(t, { options: { brokers: [...kafka.listener('SASL')], topic, ...asWriter }, secrets });
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_KAFKA_UNAUTHORIZED', message: /DESCRIBE/ });
});

interface Wrong extends Omit<SinkSetup, 'options'> {
  readonly what: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly listener: 'PLAINTEXT' | 'TLS' | 'SASL';
  readonly code: string;
  readonly disposition: string;
  readonly message: RegExp;
}

const WRONG: readonly Wrong[] = [
  {
    what: 'a wrong password',
    listener: 'SASL',
    options: asWriter,
    secrets: { PASSWORD: 'not-the-password' },
    code: 'BRIDGE_KAFKA_UNAUTHENTICATED',
    disposition: 'misconfigured',
    message: /credentials.*correct sasl/,
  },
  {
    what: 'a login at a listener without one',
    listener: 'PLAINTEXT',
    options: asWriter,
    secrets,
    code: 'BRIDGE_KAFKA_UNAUTHENTICATED',
    disposition: 'misconfigured',
    message: /do not use SASL at this listener/,
  },
  {
    what: 'no login at a listener that requires one',
    listener: 'SASL',
    options: {},
    code: 'BRIDGE_KAFKA_BROKEN',
    disposition: 'retry',
    message: /may need TLS \(ssl: true\), or it may need a login \(sasl\)/,
  },
  {
    what: 'no TLS at a port with TLS',
    listener: 'TLS',
    options: {},
    code: 'BRIDGE_KAFKA_TLS',
    disposition: 'misconfigured',
    message: /ssl: true/,
  },
  {
    what: 'TLS at a port without TLS',
    listener: 'PLAINTEXT',
    options: { ssl: true },
    code: 'BRIDGE_KAFKA_BROKEN',
    disposition: 'retry',
    message: /port may not use TLS \(.*remove ssl\), or it may need a login/,
  },
  {
    what: 'a certificate of an untrusted authority',
    listener: 'TLS',
    options: { ssl: true },
    code: 'BRIDGE_KAFKA_TLS',
    disposition: 'retry',
    message: /a CA that this machine does not trust.*ssl\.ca/,
  },
];

for (const { what, listener, options, code, disposition, message, ...setup } of WRONG) {
  test(`a check and a delivery report the cause: ${what}`, { skip: withoutOurKafka }, async (t) => {
    const kafka = await sharedKafka(t);
    const topic = await kafka.createTopic();
    const { adapter, deliver } = createSink(t, {
      ...setup,
      options: { brokers: [...kafka.listener(listener)], topic, ...options },
    });
    await assert.rejects(adapter.check(never), { code, disposition, scope: 'sink', message });
    const failure = failed((await deliver({ seq: 1 }))[0]);
    assert.deepEqual([failure.code, failure.disposition, failure.scope], [code, disposition, 'sink']);
    assert.match(failure.message, message);
  });
}

test('a name that does not resolve, and a port without a listener, are reported as unreachable', async (t) => {
  for (const broker of ['no-such-host.invalid:9092', '127.0.0.1:1']) {
    const { adapter } = createSink(t, { options: { brokers: [broker], topic: 'any' } });
    await assert.rejects(adapter.check(never), {
      code: 'BRIDGE_KAFKA_UNREACHABLE',
      disposition: 'retry',
      scope: 'sink',
      message: new RegExp(`${broker} cannot be reached`),
    });
  }
});
