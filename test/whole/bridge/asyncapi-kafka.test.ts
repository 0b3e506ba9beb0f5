// A maintenance over Kafka → records that fit the document.
import { test } from 'node:test';
import { readTopic } from '../../far-sides/kafka/records.ts';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { type Arrived, assertFits, jsonOf, maintenance } from './asyncapi-life.ts';

test('what arrives at topics fits the document that the bridge serves', { skip: withoutKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topics = { binary: await kafka.createTopic(), structured: await kafka.createTopic() };
  const entries = Object.entries(topics).map(([mode, topic]) => [
    mode,
    { type: 'kafka', brokers: kafka.brokers, topic, mode },
  ]);
  const { document, sent } = await maintenance(t, Object.fromEntries(entries));
  const read =
    (mode: keyof typeof topics): Arrived =>
    async () =>
      (await readTopic(kafka.brokers, topics[mode])).map(({ headers, value }) => ({
        headers: Object.fromEntries(headers),
        payload: jsonOf(value ?? ''),
      }));
  await assertFits(document, sent, { binary: read('binary'), structured: read('structured') });
});
