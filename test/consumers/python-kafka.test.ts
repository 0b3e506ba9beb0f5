// docs/receive/examples/python/kafka_consumer.py → all maintenances, bad input.
import { test } from 'node:test';
import { withoutKafka } from '../far-sides/kafka/shared-kafka.ts';
import { kafkaChannel } from './kafka-channel.ts';
import { playAll } from './play.ts';
import { pythonProgram, withoutPython } from './python.ts';

test('the Kafka consumer in Python lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutPython || withoutKafka,
}, async (t) => {
  await playAll(t, pythonProgram('kafka_consumer.py'), await kafkaChannel(t));
});
