// The `kafka` kind of sink and of approval source: options → an adapter that writes CloudEvents to a topic.
import type { AdapterDefinition } from '../adapter.ts';
import { connectionFaults } from './connection-options.ts';
import { KafkaAdapter } from './kafka-adapter.ts';
import { type KafkaOptions, kafkaOptions } from './kafka-options.ts';
import { kafkaSource } from './kafka-source.ts';

/** One record for each CloudEvent (CloudEvents Kafka protocol binding 1.0.2), its key the partition key. */
export const kafka: AdapterDefinition<KafkaOptions> = {
  type: 'kafka',
  options: kafkaOptions,
  secretFaults: connectionFaults,
  create: (options, deps) => new KafkaAdapter(options, deps),
  source: kafkaSource,
};
