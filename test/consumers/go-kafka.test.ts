// docs/receive/examples/go/ → every maintenance and bad input from a topic of Kafka.
import { test } from 'node:test';
import { withoutKafka } from '../far-sides/kafka/shared-kafka.ts';
import { goProgram, withoutGo } from './go.ts';
import { kafkaChannel } from './kafka-channel.ts';
import { playAll } from './play.ts';

test('the Kafka consumer in Go lives through kill -9, repeats, drills, updates, old news and bad input', {
  skip: withoutGo || withoutKafka,
}, async (t) => {
  await playAll(t, goProgram(t, 'kafka'), await kafkaChannel(t));
});
