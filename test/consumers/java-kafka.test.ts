// docs/receive/examples/java/ → KafkaMaintenance.java in all maintenances, with bad input.
import { test } from 'node:test';
import { withoutKafka } from '../far-sides/kafka/shared-kafka.ts';
import { javaProgram, withoutJava } from './java.ts';
import { kafkaChannel } from './kafka-channel.ts';
import { playAll } from './play.ts';

test('the Kafka consumer in Java lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutJava || withoutKafka,
}, async (t) => {
  await playAll(t, await javaProgram(t, 'KafkaMaintenance'), await kafkaChannel(t));
});
