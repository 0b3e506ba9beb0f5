// A Kafka sink's keys beside those of its connection → checked options, each fault at its path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { kafkaOptions } from '../../../../../adapters/kafka/options/kafka-options.ts';

const BASE = { brokers: ['localhost:9092'], topic: 'maintenance' };

function faultsOf(options: Readonly<Record<string, unknown>>): (readonly [path: string | null, message: string])[] {
  const { issues = [] } = v.safeParse(kafkaOptions, { ...BASE, ...options });
  return issues.map((issue) => [v.getDotPath(issue), issue.message] as const);
}

test('brokers and a topic are enough', () => {
  const { mode, keyed, idempotent, compression, createTopic } = v.parse(kafkaOptions, BASE);
  assert.deepEqual([mode, keyed, idempotent, compression, createTopic], ['binary', true, false, 'none', undefined]);
});

test("a topic's name is what Kafka allows", () => {
  for (const topic of ['a', 'maintenance.v1', 'A_b-9', '...', 'x'.repeat(249)])
    assert.deepEqual(faultsOf({ topic }), [], topic);
  for (const topic of ['', '.', '..', 'a b', 'a/b', 'ü', 'x'.repeat(250), 7]) {
    const [[path, message] = []] = faultsOf({ topic });
    assert.equal(path, 'topic', String(topic));
    assert.match(message ?? '', /^must be a topic's name: 1 to 249 letters/);
  }
});

test('createTopic names partitions and replicas, and its values become text', () => {
  const wanted = {
    partitions: 3,
    replicationFactor: 2,
    config: { 'min.insync.replicas': 2, 'cleanup.policy': 'compact', preallocate: true },
  };
  assert.deepEqual(v.parse(kafkaOptions, { ...BASE, createTopic: wanted }).createTopic, {
    ...wanted,
    config: { 'min.insync.replicas': '2', 'cleanup.policy': 'compact', preallocate: 'true' },
  });
  assert.deepEqual(
    v.parse(kafkaOptions, { ...BASE, createTopic: { partitions: 1, replicationFactor: 1 } }).createTopic?.config,
    {},
  );
  const faults: readonly (readonly [unknown, string])[] = [
    [{}, 'createTopic.partitions'],
    [{ partitions: 3 }, 'createTopic.replicationFactor'],
    [{ partitions: 0, replicationFactor: 1 }, 'createTopic.partitions'],
    [{ partitions: 1.5, replicationFactor: 1 }, 'createTopic.partitions'],
    [{ partitions: 1, replicationFactor: 1, config: { a: [] } }, 'createTopic.config.a'],
    [{ partitions: 1, replicationFactor: 1, replicas: 1 }, 'createTopic.replicas'],
    [true, 'createTopic'],
  ];
  for (const [createTopic, path] of faults)
    assert.ok(
      faultsOf({ createTopic }).some(([at]) => at === path),
      `${JSON.stringify(createTopic)}: ${path}`,
    );
});

test('Event Hubs makes no topics: createTopic is a fault there', () => {
  const createTopic = { partitions: 1, replicationFactor: 1 };
  assert.deepEqual(faultsOf({ preset: 'event-hubs', createTopic }), [
    ['createTopic', 'is not possible with Event Hubs: create the event hub in Azure'],
  ]);
});

test('compression that the client has no codec for is a fault that says what else can be done', () => {
  for (const compression of ['snappy', 'lz4', 'zstd']) {
    const [[path, message] = []] = faultsOf({ compression });
    assert.equal(path, 'compression');
    assert.match(message ?? '', /none or gzip.*let the topic compress/);
  }
});

test('a key that does not exist, and a mode that Kafka has not, are faults', () => {
  assert.deepEqual(
    faultsOf({ topci: 'x', mode: 'batch', keyed: 'yes' }).map(([path]) => path),
    ['mode', 'keyed', 'topci'],
  );
});
