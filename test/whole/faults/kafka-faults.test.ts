// Connections cut, brokers away, full, slow, strict → all arrives through a lane, in order.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import kafkajs from 'kafkajs';
import { KafkaProxy, type ProxiedRequest } from '../../far-sides/kafka/kafka-proxy.ts';
import { USERS } from '../../far-sides/kafka/security.ts';
import { type Kafka, sharedKafka, withoutKafka, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { API } from '../../far-sides/kafka/wire.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { kafkaAdmin } from './kafka-admin.ts';
import { Stream, type StreamOptions } from './kafka-stream.ts';

const CHANGES = 1000;
const FEW = 60;
const PARTITIONS = 6;
const SEEDS = [20_261_121, 4_711];
const STORAGE_ERROR = 56;
const CUTS = ['cut before', 'cut after'] as const;

/** A topic of the shared broker, behind a proxy. */
async function proxied(t: TestContext, listener: 'PLAINTEXT' | 'SASL' = 'PLAINTEXT') {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic({ partitions: PARTITIONS });
  const proxy = await KafkaProxy.start(t, listener === 'PLAINTEXT' ? kafka.brokers : kafka.listener(listener));
  return { kafka, topic, proxy, options: { brokers: [...proxy.brokers], topic } };
}

const isProduce = ({ api }: ProxiedRequest) => api === API.produce;

for (const idempotent of [false, true]) {
  for (const seed of SEEDS) {
    test(`connections are cut before and after the broker has a request, at random (idempotent: ${idempotent}, seed ${seed})`, {
      skip: withoutKafka,
    }, async (t) => {
      const { kafka, topic, proxy, options } = await proxied(t);
      const { random } = new VirtualTime({ seed });
      let cuts = 0;
      proxy.rule = (request) => {
        // A new connection asks for several things before it can be of use.
        if (random() > (isProduce(request) ? 0.2 : 0.02)) return undefined;
        cuts += 1;
        return CUTS[Math.floor(random() * CUTS.length)];
      };
      const stream = Stream.start(t, { options: { ...options, idempotent } });
      stream.send(CHANGES);
      await stream.done();
      await stream.assertExplained(kafka.brokers, topic);
      assert.ok(cuts > 10);
      // One to the broker that is named, one to the same as the leader.
      assert.ok(
        proxy.connections <= 2 * (cuts + 1),
        `${proxy.connections} connections, of which ${cuts} were cut: none is given up without need`,
      );
    });
  }

  const repeats = idempotent ? 'nothing' : 'what went with it, and no more';
  test(`an answer that is lost repeats ${repeats} (idempotent: ${idempotent})`, { skip: withoutKafka }, async (t) => {
    const { kafka, topic, proxy, options } = await proxied(t);
    const stream = Stream.start(t, { options: { ...options, idempotent } });
    proxy.next('produce', 'cut after');
    stream.send(FEW);
    await stream.done();
    const explained = await stream.assertExplained(kafka.brokers, topic);
    assert.equal(explained.repeats > 0, !idempotent);
    assert.equal(stream.failures.length > 0, !idempotent);
  });
}

test('a broker that is away at the start is waited for', { skip: withoutKafka }, async (t) => {
  const { kafka, topic, proxy, options } = await proxied(t);
  proxy.refuse();
  const stream = Stream.start(t, { options });
  stream.send(FEW);
  await poll(() => stream.failures.length > 2, 'some attempts');
  assert.equal(stream.status.state, 'probing');
  assert.match(stream.status.reason ?? '', /127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/);
  await proxy.accept();
  await stream.done();
  assert.deepEqual(await stream.assertExplained(kafka.brokers, topic), { repeats: 0 });
});

test('the bridge waits for a broker with a full disk, and reports the full disk', { skip: withoutKafka }, async (t) => {
  const { kafka, topic, proxy, options } = await proxied(t);
  proxy.rule = (request) => (isProduce(request) ? { error: STORAGE_ERROR } : undefined);
  const stream = Stream.start(t, { options });
  stream.send(FEW);
  await poll(() => stream.status.state === 'probing', 'the sink to be sick');
  assert.match(stream.status.reason ?? '', /cannot write to its disk/);
  const { connections } = proxy;
  proxy.rule = () => undefined;
  await stream.done();
  assert.deepEqual(await stream.assertExplained(kafka.brokers, topic), { repeats: 0 });
  assert.equal(proxy.connections, connections, 'what was answered costs no connection');
});

test('a broker that asks for pauses longer than the time it has to answer gets them, and fails nothing', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, topic, proxy, options } = await proxied(t);
  const startMs = performance.now();
  const pauseMs = 700;
  const pause = { throttleMs: pauseMs };
  const stream = Stream.start(t, { options: { ...options, timeout: '500ms' } });
  for (const _ of [1, 2]) {
    proxy.next('produce', pause);
    stream.send(FEW);
    await stream.done();
  }
  assert.ok(performance.now() - startMs >= pauseMs, 'the second lot came after the pause');
  assert.deepEqual(stream.failures, []);
  assert.deepEqual(await stream.assertExplained(kafka.brokers, topic), { repeats: 0 });
});

test('a topic without the right to write is reported as misconfigured, and used once the right is granted', {
  skip: withoutOurKafka,
}, async (t) => {
  const { kafka, topic, options } = await proxied(t, 'SASL');
  await kafka.deny({ resource: 'topic', name: topic, user: 'writer', operation: 'write' });
  const stream = Stream.start(t, {
    ...login('writer', USERS.writer),
    options: { ...login('writer').options, ...options },
  });
  stream.send(FEW);
  await poll(() => stream.failures.length > 1, 'some attempts');
  assert.equal(stream.status.state, 'misconfigured');
  assert.match(stream.status.reason ?? '', new RegExp(`lacks the right WRITE on topic ${topic}`));
  await allow(t, kafka, topic);
  await stream.done();
  assert.deepEqual(await stream.assertExplained(kafka.brokers, topic), { repeats: 0 });
});

interface Mistake {
  readonly what: string;
  readonly state: 'misconfigured' | 'probing';
  readonly reason: RegExp;
  readonly setup: (kafka: Kafka, t: TestContext) => Setup | Promise<Setup>;
}
type Setup = Pick<StreamOptions, 'options' | 'secrets'>;

const MISTAKES: readonly Mistake[] = [
  {
    what: 'a wrong password',
    state: 'misconfigured',
    reason: /reject these credentials: correct sasl/,
    setup: (kafka) => at(kafka.listener('SASL'), login('writer', 'not-the-password')),
  },
  {
    // All that such a broker does is close the connection.
    what: 'TLS to a port without it',
    state: 'probing',
    reason: /closed the connection without an answer .* this port may not use TLS/,
    setup: (kafka) => at(kafka.listener('PLAINTEXT'), { options: { ssl: { ca: kafka.certificates.ca } } }),
  },
  {
    what: 'no TLS to a port with it',
    state: 'misconfigured',
    reason: /speaks TLS at this port: set ssl: true/,
    setup: (kafka) => at(kafka.listener('TLS'), { options: {} }),
  },
  {
    what: 'a cluster that sends its clients where nobody is',
    state: 'probing',
    reason:
      /answered and named 127\.0\.0\.1:1 .*\(advertised\.listeners\), but the bridge cannot reach it .* set advertised\.listeners/,
    setup: async (kafka, t) =>
      at((await KafkaProxy.start(t, kafka.brokers, { advertised: '127.0.0.1:1' })).brokers, { options: {} }),
  },
];

for (const { what, state, reason, setup } of MISTAKES) {
  test(`${what} is reported as that and loses nothing: all arrives once it is corrected`, {
    skip: withoutOurKafka,
  }, async (t) => {
    const kafka = await sharedKafka(t);
    const topic = await kafka.createTopic({ partitions: PARTITIONS });
    const { options, ...rest } = await setup(kafka, t);
    const stream = Stream.start(t, { ...rest, options: { ...options, topic } });
    stream.send(FEW);
    await poll(() => stream.failures.length > 1, 'some attempts');
    assert.equal(stream.status.state, state);
    assert.match(stream.status.reason ?? '', reason);
    await stream.restart({ options: { brokers: [...kafka.brokers], topic } });
    await stream.done();
    assert.deepEqual(await stream.assertExplained(kafka.brokers, topic), { repeats: 0 });
  });
}

function at(brokers: readonly string[], { options, ...rest }: Setup): Setup {
  return { ...rest, options: { ...options, brokers: [...brokers] } };
}

function login(username: string, password = ''): Setup {
  return {
    options: { sasl: { mechanism: 'plain', username, password: { env: 'PASSWORD' } } },
    secrets: { PASSWORD: password },
  };
}

/** Takes back what was denied. */
async function allow(t: TestContext, kafka: Kafka, topic: string): Promise<void> {
  const admin = await kafkaAdmin(t, kafka.brokers);
  await admin.deleteAcls({
    filters: [
      {
        resourceType: kafkajs.AclResourceTypes.TOPIC,
        resourceName: topic,
        resourcePatternType: kafkajs.ResourcePatternTypes.LITERAL,
        operation: kafkajs.AclOperationTypes.ANY,
        permissionType: kafkajs.AclPermissionTypes.DENY,
      },
    ],
  });
}
