// The kind `kafka`: options → an adapter that writes to a topic, or a source of approvals.
import type { AdapterDefinition } from '../adapter.ts';
import { kafkaChannel } from './kafka-channel.ts';
import { connectionFaults } from './options/connection-options.ts';
import { type KafkaOptions, kafkaOptions } from './options/kafka-options.ts';
import { KafkaAdapter } from './sink/kafka-adapter.ts';
import { kafkaSource } from './source/kafka-source.ts';

/** Writes one record for each CloudEvent (CloudEvents Kafka protocol binding 1.0.2). Its key is the partition key. */
export const kafka: AdapterDefinition<KafkaOptions> = {
  type: 'kafka',
  options: kafkaOptions,
  secretFaults: connectionFaults,
  create: (options, deps) => new KafkaAdapter(options, deps),
  channel: kafkaChannel,
  source: kafkaSource,
};
