// Bridges of one consumer group or of several, that come, go and die → who takes each message.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import kafkajs from 'kafkajs';
import * as v from 'valibot';
import { kafkaClients } from '../../../adapters/kafka/client/kafka-client.ts';
import { kafkaSourceOptions } from '../../../adapters/kafka/options/kafka-source-options.ts';
import { groupConsumer } from '../../../adapters/kafka/source/group-consumer.ts';
import {
  type Coordinator,
  coordinatorOf,
  retryUntilCoordinated,
} from '../../../adapters/kafka/source/group-coordinator.ts';
import { startGroupFromOutside } from '../../../adapters/kafka/source/group-start.ts';
import type { BridgeError } from '../../../src/errors.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { poll } from '../../support/poll.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { Reading } from '../source-reading.ts';
import { FarEnd, openSource } from './source-fixture.ts';

async function setUp(t: TestContext, partitions = 1) {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic({ partitions });
  const groupId = kafka.uniqueName('group');
  return {
    kafka,
    topic,
    groupId,
    far: await FarEnd.open(t, kafka.brokers, topic),
    options: { brokers: kafka.brokers, topic, groupId },
  };
}

/** A cluster and its coordinator, as a source has them before it joins. */
async function outside(t: TestContext, brokers: readonly string[], topic: string, groupId: string) {
  const options = v.parse(kafkaSourceOptions, { brokers, topic, groupId });
  const client = await kafkaClients(options, adapterDeps(), 'approvals.sources.ops')();
  const { consumer, cluster } = await groupConsumer(client, groupId);
  t.after(() => consumer.disconnect());
  await consumer.connect();
  await consumer.subscribe({ topic });
  return { cluster, coordinator: await retryUntilCoordinated(systemDeps(), () => coordinatorOf(cluster, groupId)) };
}

class SourceProcess {
  readonly child: ChildProcess;
  output = '';

  constructor(t: TestContext, options: Readonly<Record<string, unknown>>) {
    const file = join(import.meta.dirname, 'source-process.ts');
    this.child = spawn(process.execPath, [file, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    t.after(() => this.kill());
  }

  get texts(): string[] {
    return this.output
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== 'ready');
  }

  async prints(line: string): Promise<void> {
    await poll(() => this.output.split('\n').includes(line), `${line} of a process`);
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'close');
  }
}

/** Sends 1, 2, 3 … to one partition after the other until it is stopped. @returns how many it sent */
function sendSteadily(far: FarEnd, partitions: number) {
  let isStopped = false;
  let sent = 0;
  const done = (async () => {
    while (!isStopped) {
      await far.send([String(sent + 1)], sent % partitions);
      sent += 1;
    }
  })();
  return {
    sent: () => sent,
    stop: async () => {
      isStopped = true;
      await done;
      return sent;
    },
  };
}

function upTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1)).toSorted();
}

test('a message that was sent between the first commit and the first poll is processed', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, topic, groupId, far, options } = await setUp(t, 2);
  await far.send(['old'], 0);
  const { cluster, coordinator } = await outside(t, kafka.brokers, topic, groupId);
  const ends = await startGroupFromOutside(cluster, coordinator, { topic, groupId, source: 'ops' });
  assert.deepEqual(
    ends,
    new Map([
      [0, '1'],
      [1, '0'],
    ]),
  );
  assert.deepEqual(await far.committed(groupId), [1, 0]);
  await far.send(['between'], 0);
  const { source, logged } = openSource(t, options);
  const reading = new Reading(source);
  await reading.until(1);
  assert.deepEqual(reading.texts, ['between']);
  assert.doesNotMatch(logged(), /is new/);
});

test('when two bridges start a group together, the later one never skips a message that was sent after the first commit', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, topic, groupId, far } = await setUp(t);
  const [first, second] = [
    await outside(t, kafka.brokers, topic, groupId),
    await outside(t, kafka.brokers, topic, groupId),
  ];
  const group = { topic, groupId, source: 'ops' };
  const before = async () => {
    await startGroupFromOutside(first.cluster, first.coordinator, group);
    await far.send(['after the first commit']);
  };
  // Whatever it asks first, the other one has started by the time it goes on.
  let isFirst = true;
  const meanwhile = async <T>(answer: Promise<T>): Promise<T> => {
    const found = await answer;
    if (isFirst) {
      isFirst = false;
      await before();
    }
    return found;
  };
  const { cluster, coordinator } = second;
  const delayedCluster = Object.create(cluster, {
    fetchTopicsOffset: {
      value: (...args: Parameters<typeof cluster.fetchTopicsOffset>) => meanwhile(cluster.fetchTopicsOffset(...args)),
    },
  }) as typeof cluster;
  const delayed: Coordinator = {
    offsetFetch: (request) => meanwhile(coordinator.offsetFetch(request)),
    offsetCommit: (request) => coordinator.offsetCommit(request),
    heartbeat: (request) => coordinator.heartbeat(request),
    leaveGroup: (request) => coordinator.leaveGroup(request),
  };
  await startGroupFromOutside(delayedCluster, delayed, group);
  assert.deepEqual(await far.committed(groupId), [0]);
});

test('sources of one bridge with different topics share its group, and also start at the end', {
  skip: withoutKafka,
}, async (t) => {
  const { kafka, groupId, far, options } = await setUp(t, 2);
  const other = await FarEnd.open(t, kafka.brokers, await kafka.createTopic({ partitions: 2 }));
  for (const end of [far, other]) await end.send(['old'], 1);
  const first = new Reading(openSource(t, options).source);
  await first.ready();
  const late = openSource(t, { ...options, topic: other.topic });
  const second = new Reading(late.source);
  await second.ready();
  assert.match(late.logged(), /the consumer group is new/);
  assert.deepEqual(
    [await far.committed(groupId), await other.committed(groupId)],
    [
      [0, 1],
      [0, 1],
    ],
  );
  for (const partition of [0, 1]) {
    await far.send([`first ${partition}`], partition);
    await other.send([`second ${partition}`], partition);
  }
  await Promise.all([first.until(2), second.until(2)]);
  assert.deepEqual(first.texts.toSorted(), ['first 0', 'first 1']);
  assert.deepEqual(second.texts.toSorted(), ['second 0', 'second 1']);
  await first.abort();
  await other.send(['once more'], 1);
  await second.until(3);
});

test('a group with programs other than bridges is a fault', { skip: withoutKafka }, async (t) => {
  const { kafka, topic, groupId, options } = await setUp(t);
  const client = new kafkajs.Kafka({ brokers: [...kafka.brokers], logLevel: kafkajs.logLevel.NOTHING });
  const stranger = client.consumer({ groupId });
  await stranger.subscribe({ topic });
  const joined = Promise.withResolvers<unknown>();
  stranger.on(stranger.events.GROUP_JOIN, joined.resolve);
  await stranger.run({ eachMessage: async () => {} });
  t.after(() => stranger.disconnect());
  await joined.promise;
  const fault = (await new Reading(openSource(t, options).source).done) as BridgeError;
  assert.deepEqual([fault.code, fault.disposition], ['BRIDGE_KAFKA_GROUP', 'misconfigured']);
  assert.match(fault.message, new RegExp(`the consumer group ${groupId} contains programs other than bridges`));
});

test('with readers each, two bridges both process every message', { skip: withoutKafka }, async (t) => {
  const { kafka, far, options } = await setUp(t, 2);
  const { groupId: _, ...each } = options;
  const readings = [kafka.uniqueName('web'), kafka.uniqueName('web')].map(
    (observerId) => new Reading(openSource(t, each, { observerId }).source),
  );
  for (const reading of readings) await reading.ready();
  await far.send(['a'], 0);
  await far.send(['b'], 1);
  for (const reading of readings) await reading.until(2);
  for (const reading of readings) assert.deepEqual(reading.texts.toSorted(), ['a', 'b']);
});

test('with readers one, bridges that join and leave share the messages: none is lost or processed twice', {
  skip: withoutKafka,
}, async (t) => {
  const { far, options } = await setUp(t, 4);
  const shared = { ...options, readers: 'one' };
  const first = new Reading(openSource(t, shared).source);
  await first.ready();
  const sending = sendSteadily(far, 4);
  await first.until(10);
  const joining = openSource(t, shared);
  const second = new Reading(joining.source);
  await second.until(20);
  const before = first.messages.length;
  await poll(() => first.messages.length > before + 10, 'messages for both');
  await joining.source[Symbol.asyncDispose]();
  const left = sending.sent();
  await poll(() => sending.sent() > left + 20, 'messages behind the leave');
  const sent = await sending.stop();
  const all = () => [...first.texts, ...second.texts];
  await poll(() => all().length >= sent, 'all messages');
  assert.deepEqual(all().toSorted(), upTo(sent));
});

test('after a bridge is killed, the other takes over its partitions, and repeats only uncommitted messages', {
  skip: withoutKafka,
}, async (t) => {
  const { far, options } = await setUp(t, 2);
  const shared = { ...options, readers: 'one' };
  const first = new Reading(openSource(t, shared).source);
  await first.ready();
  const child = new SourceProcess(t, shared);
  await child.prints('ready');
  const sending = sendSteadily(far, 2);
  await poll(() => child.texts.length > 10, 'messages of the child');
  await child.kill();
  const killed = sending.sent();
  await poll(() => sending.sent() > killed + 20, 'messages behind the kill');
  const sent = await sending.stop();
  await poll(() => new Set([...first.texts, ...child.texts]).size >= sent, 'all messages');
  const repeated = first.texts.filter((text) => child.texts.includes(text));
  assert.deepEqual(new Set([...first.texts, ...child.texts]).size, sent);
  assert.deepEqual(repeated, repeated.length === 0 ? [] : child.texts.slice(-1));
  assert.equal(first.texts.length, new Set(first.texts).size);
});

test('a bridge that is killed right after its first start misses nothing, and reads again within 10 s', {
  skip: withoutKafka,
}, async (t) => {
  const { far, options } = await setUp(t);
  await far.send(['old']);
  const child = new SourceProcess(t, options);
  await child.prints('ready');
  await child.kill();
  const startedMs = performance.now();
  await far.send(['while dead']);
  const reading = new Reading(openSource(t, options).source);
  await reading.until(1, 10_000);
  assert.deepEqual(reading.texts, ['while dead']);
  t.diagnostic(`read again ${Math.round(performance.now() - startedMs)} ms after the kill`);
});
