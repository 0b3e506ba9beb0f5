// The options of a Kafka sink or source → the place and form of its records, for AsyncAPI.
import type { ChannelPlace, SinkChannel } from '../channel.ts';
import { showBroker } from './options/broker-address.ts';
import { connectionSettings, type KafkaConnectionOptions } from './options/connection-options.ts';
import type { KafkaOptions } from './options/kafka-options.ts';
import { encodeRecord, RECORD_CONTENT_TYPES, RECORD_HEADER_PREFIX } from './sink/record-encoder.ts';

/** The versions of AsyncAPI's Kafka bindings. */
const BINDING = { bindingVersion: '0.5.0' };

/** Returns the topic and the brokers. @param options with open secrets, without faults */
export function kafkaPlace({ topic, ...options }: KafkaConnectionOptions & { readonly topic: string }): ChannelPlace {
  const { brokers, tls } = connectionSettings(options);
  return {
    protocol: tls === null ? 'kafka' : 'kafka-secure',
    hosts: brokers.map(showBroker),
    address: topic,
    description: `The Kafka topic ${topic}.`,
    bindings: { kafka: { topic, ...BINDING } },
  };
}

/** Returns the topic, and the form of its records. @param options as in `kafkaPlace` */
export function kafkaChannel(options: KafkaOptions): SinkChannel {
  const { mode, keyed } = options;
  const key = { type: 'string', description: 'The partitionkey of the CloudEvent.' };
  return {
    ...kafkaPlace(options),
    mode,
    form: 'Kafka',
    contentType: RECORD_CONTENT_TYPES[mode],
    hasTypeHeader: true,
    prefix: RECORD_HEADER_PREFIX,
    otherHeaders: {},
    ...(keyed && { messageBindings: { kafka: { key, ...BINDING } } }),
    encode: (delivery) => {
      const { headers, value } = encodeRecord(delivery, options, '');
      return { headers, body: value };
    },
  };
}
