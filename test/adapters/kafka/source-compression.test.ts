// Records packed by librdkafka, Java and kafkajs → the same records; bad bytes → an end in time.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { decompressLz4 } from '../../../adapters/kafka/source/codecs/lz4.ts';
import { decompressSnappy } from '../../../adapters/kafka/source/codecs/snappy.ts';
import type { BridgeError } from '../../../src/errors.ts';
import { javaArguments, javaProgram } from '../../far-sides/kafka/distribution.ts';
import { sharedKafka, withoutKafka, withoutOurKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { Reading } from '../source-reading.ts';
import { openSource } from './source-fixture.ts';

/** So many that a batch has several blocks of 64 KiB, with much to refer back to and something that is always new. */
const LINES = Array.from({ length: 3_000 }, (_, index) =>
  JSON.stringify({
    StartRequests: [{ EventId: `c7061bac-${(index * 2_654_435_761) % 2 ** 32}` }],
    padding: 'x'.repeat(index % 97),
  }),
);

/** Gives a program lines, and waits until it has sent them. */
async function send(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(`${LINES.join('\n')}\n`);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
}

for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) {
  test(`records that librdkafka compresses with ${codec} arrive unchanged`, { skip: withoutKafka }, async (t) => {
    const kafka = await sharedKafka(t);
    const topic = await kafka.createTopic();
    const reading = new Reading(
      openSource(t, { brokers: kafka.brokers, topic, groupId: kafka.uniqueName('group') }).source,
    );
    await reading.ready();
    await send('kcat', ['-P', '-q', '-b', kafka.brokers.join(), '-t', topic, '-z', codec, '-X', 'linger.ms=200']);
    await reading.until(LINES.length);
    assert.deepEqual(reading.texts, LINES);
  });
}

for (const codec of ['snappy', 'lz4', 'zstd']) {
  test(`records that Kafka's Java client compresses with ${codec} arrive unchanged`, {
    skip: withoutOurKafka,
  }, async (t) => {
    const kafka = await sharedKafka(t);
    const topic = await kafka.createTopic();
    const reading = new Reading(
      openSource(t, { brokers: kafka.brokers, topic, groupId: kafka.uniqueName('group') }).source,
    );
    await reading.ready();
    const tool = [
      'org.apache.kafka.tools.ConsoleProducer',
      '--bootstrap-server',
      kafka.brokers.join(),
      '--topic',
      topic,
    ];
    await send(javaProgram(), [
      ...(await javaArguments()),
      ...tool,
      '--compression-codec',
      codec,
      '--batch-size',
      '500000',
      '--timeout',
      '500',
    ]);
    await reading.until(LINES.length);
    assert.deepEqual(reading.texts, LINES);
  });
}

test('a batch that exceeds the limit when decompressed is a fault with instructions to skip it', {
  skip: withoutKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const groupId = kafka.uniqueName('group');
  const reading = new Reading(openSource(t, { brokers: kafka.brokers, topic, groupId }).source);
  await reading.ready();
  const client = new kafkajs.Kafka({ brokers: [...kafka.brokers], logLevel: kafkajs.logLevel.NOTHING });
  const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  t.after(() => producer.disconnect());
  await producer.send({
    topic,
    compression: kafkajs.CompressionTypes.GZIP,
    messages: [{ value: Buffer.alloc(65 * 1024 ** 2) }],
  });
  const fault = (await reading.done) as BridgeError;
  assert.deepEqual([fault.code, fault.disposition, fault.scope], ['BRIDGE_KAFKA_UNREADABLE', 'misconfigured', 'sink']);
  assert.match(fault.message, new RegExp(`topic ${topic} .*${groupId}`));
});

const MOST_BYTES = 100_000;
const decompressors = { snappy: decompressSnappy, lz4: decompressLz4 };
/** A frame of LZ4 without options, for blocks that are anything. */
const LZ4_START = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);

for (const [codec, decompressBatch] of Object.entries(decompressors)) {
  test(`bytes that are not valid ${codec} give a RangeError, or no more bytes than allowed`, () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
    const framed = bytes.map((block) => {
      const size = Buffer.alloc(4);
      size.writeUInt32LE(block.length);
      return Buffer.concat([LZ4_START, size, block, Buffer.alloc(4)]);
    });
    fc.assert(
      fc.property(fc.oneof(bytes, framed), (packed) => {
        try {
          assert.ok(decompressBatch(packed, MOST_BYTES).length <= MOST_BYTES);
        } catch (error) {
          assert.ok(error instanceof RangeError, String(error));
        }
      }),
    );
  });
}

test('a decompression bomb is rejected at the limit', () => {
  const copies = Buffer.concat([
    Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x61]),
    Buffer.alloc(6_000, Buffer.from([0xfe, 0x01, 0x00])),
  ]);
  assert.throws(() => decompressSnappy(copies, MOST_BYTES), /exceed the limit/);
  const block = Buffer.concat([Buffer.from([0x1f, 0x61, 0x01, 0x00]), Buffer.alloc(1_000, 0xff), Buffer.from([0x00])]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.length);
  assert.throws(() => decompressLz4(Buffer.concat([LZ4_START, size, block]), MOST_BYTES), /exceed the limit/);
});
