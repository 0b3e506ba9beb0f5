// Configuration of a Kafka sink → checked options.
import * as v from 'valibot';
import { choice, flag, rule, wholeNumber } from '../../../src/schema/pieces.ts';
import { connectionRules, isEventHubs, kafkaConnectionEntries } from './connection-options.ts';

/** Kafka's rule for topic names. */
const TOPIC = /^[A-Za-z0-9._-]{1,249}$/;
const MOST_PARTITIONS = 100_000;
const MOST_REPLICAS = 32_767;

export function topicName() {
  const message = "must be a topic's name: 1 to 249 letters, digits, dots, dashes and underscores";
  return v.pipe(
    v.string(message),
    v.regex(TOPIC, message),
    v.check((name) => !/^\.{1,2}$/.test(name), message),
  );
}

const NO_CREATION = 'is not possible with Event Hubs: create the event hub in Azure';

const createTopic = v.pipe(
  v.strictObject({
    partitions: v.pipe(wholeNumber(1, MOST_PARTITIONS), v.description('Number of partitions of the topic.')),
    replicationFactor: v.pipe(
      wholeNumber(1, MOST_REPLICAS),
      v.description('Number of brokers that store each partition.'),
    ),
    config: v.pipe(
      v.optional(
        v.record(
          v.pipe(v.string(), v.minLength(1)),
          v.pipe(
            v.union([v.string(), v.number(), v.boolean()], 'must be text, a number, true or false'),
            v.transform((value) => String(value)),
          ),
        ),
        {},
      ),
      v.description("The topic's configuration, such as { min.insync.replicas: 2 }. Default: the brokers' defaults."),
    ),
  }),
  v.description(
    'Creates the topic if it does not exist, and never changes an existing one. Default: the topic must exist.',
  ),
);

const deliveryEntries = {
  topic: v.pipe(topicName(), v.description('The topic to write to.')),
  mode: choice(
    ['binary', 'structured'],
    'binary',
    'CloudEvents mode: binary puts attributes into headers, structured the whole event into the value. Default binary.',
    'must be binary or structured',
  ),
  keyed: flag(
    true,
    'Whether records have a key, the partitionkey; in both cases it determines the partition. Default true.',
  ),
  idempotent: flag(
    false,
    'Lets the brokers drop repeats after a broken connection, with one request at a time. Default false.',
  ),
  createTopic: v.exactOptional(createTopic),
  compression: choice(
    ['none', 'gzip'],
    'none',
    'How requests are compressed: none or gzip. Default none.',
    'must be none or gzip: for snappy, lz4 and zstd let the topic compress (compression.type)',
  ),
};

/** The Kafka sink's options (behaviour 2.10). */
export const kafkaOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('kafka')), v.description('The kind of sink.')),
    ...kafkaConnectionEntries,
    ...deliveryEntries,
  }),
  connectionRules(),
  rule('createTopic', (options) => !options.createTopic || !isEventHubs(options), NO_CREATION),
);

export type KafkaOptions = v.InferOutput<typeof kafkaOptions>;
