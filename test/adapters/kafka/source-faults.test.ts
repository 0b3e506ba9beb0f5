// A broker that goes away, hangs or refuses → how receiving ends; the next call loses nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { BridgeError } from '../../../src/errors.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { Cluster } from '../../far-sides/kafka/cluster.ts';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { USERS } from '../../far-sides/kafka/security.ts';
import { sharedKafka, withoutKafka, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { poll } from '../../support/poll.ts';
import { Reading } from '../source-reading.ts';
import { FarEnd, openSource, SteadyReading } from './source-fixture.ts';

const SECRETS = { READER: USERS.reader };

/** A topic, and a source that comes as the user `reader`. */
async function asReader(t: TestContext) {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const groupId = kafka.uniqueName('group');
  const sasl = { mechanism: 'plain', username: 'reader', password: { env: 'READER' } };
  return { kafka, topic, groupId, options: { brokers: kafka.listener('SASL'), topic, groupId, sasl } };
}

/** What `check` and `receive` reject with. */
async function faultsOf(
  t: TestContext,
  options: Readonly<Record<string, unknown>>,
  secrets: Readonly<Record<string, string>> = SECRETS,
) {
  const { source } = openSource(t, options, { secrets });
  const checked = (await source.check(new AbortController().signal).catch((error: unknown) => error)) as BridgeError;
  const received = (await new Reading(source).done) as BridgeError;
  return [checked, received];
}

function shown(faults: readonly BridgeError[]): unknown[] {
  return faults.map(({ code, disposition, scope, message }) => [code, disposition, scope, message]);
}

test('a missing right to read in the group is a fault that names the right and the group', {
  skip: withoutOurKafka,
}, async (t) => {
  const { kafka, groupId, options } = await asReader(t);
  await kafka.deny({ resource: 'group', name: groupId, user: 'reader', operation: 'read' });
  const message =
    `source ops: this user lacks the right READ on the consumer group ${groupId}: add an ACL that grants it, or set groupId ` +
    '(GROUP_AUTHORIZATION_FAILED)';
  const fault = ['BRIDGE_KAFKA_UNAUTHORIZED', 'misconfigured', 'sink', message];
  assert.deepEqual(shown(await faultsOf(t, options)), [fault, fault]);
});

test('a missing right to describe the group is the same fault', { skip: withoutOurKafka }, async (t) => {
  const { kafka, groupId, options } = await asReader(t);
  await kafka.deny({ resource: 'group', name: groupId, user: 'reader', operation: 'all' });
  for (const fault of await faultsOf(t, options)) {
    assert.equal(fault.code, 'BRIDGE_KAFKA_UNAUTHORIZED');
    assert.match(fault.message, new RegExp(`READ on the consumer group ${groupId}`));
  }
});

test('a missing right to read the topic is a fault that names the right and the topic, also in a check', {
  skip: withoutOurKafka,
}, async (t) => {
  const { kafka, topic, options } = await asReader(t);
  await kafka.deny({ resource: 'topic', name: topic, user: 'reader', operation: 'read' });
  for (const fault of await faultsOf(t, options)) {
    assert.deepEqual(
      [fault.code, fault.disposition, fault.scope],
      ['BRIDGE_KAFKA_UNAUTHORIZED', 'misconfigured', 'sink'],
    );
    assert.match(fault.message, new RegExp(`READ and DESCRIBE on topic ${topic}`));
  }
});

test('a first broker that accepts connections and never answers does not block the others', {
  skip: withoutKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const silent = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const brokers = [`127.0.0.1:${port}`, ...kafka.brokers];
  const { source } = openSource(t, { brokers, topic, groupId: kafka.uniqueName('group'), timeout: '500ms' });
  const reading = new SteadyReading(t, source);
  await reading.ready();
  const farEnd = await FarEnd.open(t, kafka.brokers, topic);
  await farEnd.send(['one']);
  await reading.until(1);
  assert.deepEqual(reading.texts, ['one']);
});

test('wrong credentials are reported as such, without their values', { skip: withoutOurKafka }, async (t) => {
  const { options } = await asReader(t);
  for (const fault of await faultsOf(t, options, { READER: 'wrong-secret-0815' })) {
    assert.deepEqual(
      [fault.code, fault.disposition, fault.scope],
      ['BRIDGE_KAFKA_UNAUTHENTICATED', 'misconfigured', 'sink'],
    );
    assert.doesNotMatch(JSON.stringify(fault) + fault.message + String(fault.cause), /0815/);
  }
});

test('TLS at a port without it is a fault that names ssl, for a source that never connected', {
  skip: withoutKafka,
}, async (t) => {
  const { brokers } = await sharedKafka(t);
  for (const fault of await faultsOf(t, { brokers: [...brokers], topic: 'approvals', ssl: true })) {
    assert.deepEqual([fault.code, fault.disposition, fault.scope], ['BRIDGE_KAFKA_BROKEN', 'retry', 'sink']);
    assert.match(fault.message, /this port may need TLS \(ssl: true\), no TLS/);
  }
});

test('a user with the rights receives', { skip: withoutOurKafka }, async (t) => {
  const { kafka, topic, options } = await asReader(t);
  const far = await FarEnd.open(t, kafka.brokers, topic);
  const { source } = openSource(t, options, { secrets: SECRETS });
  assert.match((await source.check(new AbortController().signal)) ?? '', /is new/);
  const reading = new Reading(source);
  await reading.ready();
  await far.send(['one']);
  await reading.until(1);
});

test('without a broker, receive and check report the configured addresses', { skip: withoutKafka }, async (t) => {
  const proxy = await KafkaProxy.start(t, (await sharedKafka(t)).brokers);
  const brokers = [...proxy.brokers];
  proxy.refuse();
  for (const fault of await faultsOf(t, { brokers, topic: 'approvals' })) {
    assert.deepEqual([fault.code, fault.disposition, fault.scope], ['BRIDGE_KAFKA_UNREACHABLE', 'retry', 'sink']);
    assert.match(fault.message, new RegExp(`^source ops: broker ${brokers[0]} cannot be reached`));
  }
});

test('when a broker restarts, nothing is lost or processed twice', { skip: withoutOurKafka }, async (t) => {
  const cluster = await Cluster.start(t);
  const brokers = cluster.addresses();
  await cluster.createTopic('approvals', { partitions: 2 });
  const far = await FarEnd.open(t, brokers, 'approvals');
  const reading = new SteadyReading(t, openSource(t, { brokers, topic: 'approvals', timeout: '2s' }).source);
  await reading.ready();
  await far.send(['1', '2'], 0);
  await far.send(['3'], 1);
  await reading.until(3);
  await cluster.broker(1).kill();
  await poll(() => reading.failures.length > 0, 'a receive that fails', 30_000);
  await cluster.broker(1).start();
  const again = await FarEnd.open(t, brokers, 'approvals');
  await again.send(['4'], 0);
  await again.send(['5'], 1);
  await reading.until(5);
  await reading.end();
  assert.deepEqual(reading.texts.toSorted(), ['1', '2', '3', '4', '5']);
  assert.deepEqual(
    new Set(reading.failures.map(({ disposition, scope }) => `${disposition} ${scope}`)),
    new Set(['retry sink']),
  );
});

test('when connections are cut repeatedly, no message is lost or processed twice', {
  skip: withoutKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const proxy = await KafkaProxy.start(t, kafka.brokers);
  const topic = await kafka.createTopic({ partitions: 2 });
  const far = await FarEnd.open(t, kafka.brokers, topic);
  const options = { brokers: [...proxy.brokers], topic, groupId: kafka.uniqueName('group'), timeout: '2s' };
  const reading = new SteadyReading(t, openSource(t, options).source);
  await reading.ready();
  for (let round = 0; round < 6; round += 1) {
    // The broker has the commit, and its answer is lost.
    if (round % 2 === 0) proxy.next('offsetCommit', 'cut after');
    await far.send([`${round}`], round % 2);
    await reading.until(round + 1);
    if (round % 2 === 1) proxy.cut();
  }
  await reading.end();
  assert.deepEqual(reading.texts, ['0', '1', '2', '3', '4', '5']);
});

test('the bridge sends heartbeats while it processes a message, however long that takes', {
  skip: withoutKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const proxy = await KafkaProxy.start(t, kafka.brokers);
  const far = await FarEnd.open(t, kafka.brokers, topic);
  const groupId = kafka.uniqueName('group');
  const { source } = openSource(t, { brokers: [...proxy.brokers], topic, groupId });
  const reading = new Reading(source, async (): Promise<'settle'> => {
    await proxy.until('heartbeat', proxy.count('heartbeat') + 2);
    return 'settle';
  });
  await reading.ready();
  await far.send(['slow']);
  await poll(async () => (await far.committed(groupId))[0] === 1, 'the commit', 30_000);
  assert.equal(reading.ended, undefined);
});

test('brokers that stop answering end receive independently of timeout, and leaving keeps its time limit', {
  skip: withoutKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const proxy = await KafkaProxy.start(t, kafka.brokers);
  const topic = await kafka.createTopic();
  const system = systemDeps();
  // Ten times as fast.
  const time = { ...system, after: (delayMs: number, run: () => void) => system.after(delayMs / 10, run) };
  const options = { brokers: [...proxy.brokers], topic, groupId: kafka.uniqueName('group'), timeout: '4m' };
  const { source } = openSource(t, options, { time });
  const reading = new Reading(source);
  await reading.ready();
  proxy.rule = () => 'swallow';
  const fault = (await reading.done) as BridgeError;
  assert.deepEqual([fault.code, fault.disposition, fault.scope], ['BRIDGE_KAFKA_TIMEOUT', 'retry', 'sink']);
  assert.match(fault.message, /received nothing from the brokers for 20 s/);
  await source[Symbol.asyncDispose]();
  await poll(() => proxy.open === 0, 'connections that are closed');
});

test('when one of three brokers fails, the partitions of the others continue, and nothing is lost or processed twice', {
  skip: withoutOurKafka,
}, async (t) => {
  const cluster = await Cluster.start(t, { brokers: 3 });
  const brokers = cluster.addresses();
  await cluster.createTopic('approvals', { partitions: 3, replicationFactor: 3 });
  const far = await FarEnd.open(t, brokers, 'approvals');
  const reading = new SteadyReading(t, openSource(t, { brokers, topic: 'approvals', timeout: '2s' }).source);
  await reading.ready();
  const sent: string[] = [];
  const sendToEach = async (word: string) => {
    for (const partition of [0, 1, 2]) {
      await far.send([`${word} ${partition}`], partition);
      sent.push(`${word} ${partition}`);
    }
    await reading.until(sent.length);
  };
  await sendToEach('before');
  await cluster.broker(2).kill();
  await sendToEach('without it');
  await cluster.broker(2).start();
  await sendToEach('with it again');
  await reading.end();
  assert.deepEqual(reading.texts.toSorted(), sent.toSorted());
});
