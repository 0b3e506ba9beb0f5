// The same keys, by the Java client and the sink, on 1 to 12 partitions → the same partitions.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { javaArguments, javaProgram } from '../../far-sides/kafka/distribution.ts';
import { type ReadRecord, readTopic } from '../../far-sides/kafka/records.ts';
import { sharedKafka, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { startSink } from './start-kafka.ts';

const MOST = 12;
/** Of every length from 1 to 40 bytes, as the bridge makes them, and of more than ASCII. */
const KEYS = [
  ...Array.from({ length: 40 }, (_, length) => 'westno_0-4711'.repeat(4).slice(0, length + 1)),
  ...Array.from(
    { length: 60 },
    (_, index) => `c7061bac-afdc-4513-b24b-${(index * 7919).toString(16).padStart(12, '0')}`,
  ),
  ...['h0123456789abcdef0123456789abcdef', 'prüfung_0', 'ß', '維持', '🛠️-vm', 'a b\u00a0c'],
];

async function produceInJava(broker: string, topic: string, keys: readonly string[]): Promise<void> {
  const properties = ['parse.key=true', 'key.separator=|'].flatMap((property) => ['--reader-property', property]);
  const args = ['-Dfile.encoding=UTF-8', ...(await javaArguments()), 'org.apache.kafka.tools.ConsoleProducer'];
  const running = promisify(execFile)(javaProgram(), [
    ...args,
    '--bootstrap-server',
    broker,
    '--topic',
    topic,
    ...properties,
  ]);
  running.child.stdin?.end(keys.map((key) => `${key}|x\n`).join(''));
  await running;
}

function placesOf(records: readonly ReadRecord[]): Record<string, number> {
  return Object.fromEntries(records.map(({ key, partition }) => [key ?? '', partition]));
}

test("each key is in the partition of the Java client's default partitioner, with 1, 3, 6 and 12 partitions", {
  skip: withoutOurKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic({ partitions: MOST });
  await produceInJava(kafka.address, topic, KEYS);
  const inJava = placesOf(await readTopic(kafka.brokers, topic));
  assert.deepEqual(Object.keys(inJava).sort(), KEYS.toSorted());
  assert.equal(new Set(Object.values(inJava)).size, MOST, 'every partition is hit');
  for (const partitions of [1, 3, 6, MOST]) {
    const { deliver, records } = await startSink(t, { topic: { partitions } });
    assert.deepEqual(
      new Set(await deliver(...KEYS.map((partitionKey, seq) => ({ seq, partitionKey })))),
      new Set(['accepted']),
    );
    // The partition is a hash modulo their number, and the others divide the largest.
    const expected = Object.fromEntries(
      Object.entries(inJava).map(([key, partition]) => [key, partition % partitions]),
    );
    assert.deepEqual(placesOf(await records()), expected, `${partitions} partitions`);
  }
});
