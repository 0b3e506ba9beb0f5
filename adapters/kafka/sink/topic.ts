// A topic → created if it is missing; its partitions, and the partition of a key.
import type { ICustomPartitioner, Kafka, PartitionMetadata, Producer } from 'kafkajs';
import type { KafkaOptions } from '../options/kafka-options.ts';

export type NewTopic = NonNullable<KafkaOptions['createTopic']>;

/**
 * Creates the topic. Succeeds if it exists already.
 * @param validateOnly checks if this user could create it with these settings, and creates nothing
 * @throws what kafkajs throws
 */
export async function createTopic(
  kafka: Kafka,
  topic: string,
  { partitions, replicationFactor, config }: NewTopic,
  validateOnly = false,
): Promise<void> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
    // Resolves with false if the topic exists already.
    await admin.createTopics({
      validateOnly,
      waitForLeaders: !validateOnly,
      topics: [{ topic, numPartitions: partitions, replicationFactor, configEntries }],
    });
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

/** An id that no partition has. */
const NO_PARTITION = -1;

/** Reads the partitions of a topic. kafkajs passes them only to a producer's partitioner, at each send. */
export class TopicPartitions {
  readonly #topic: string;
  #known: PartitionMetadata[] = [];
  #choose: ReturnType<ICustomPartitioner> | null = null;

  constructor(topic: string) {
    this.#topic = topic;
  }

  /** The partitioner for the producer. Each message names its partition. */
  readonly partitioner: ICustomPartitioner = () => {
    return ({ partitionMetadata, message }) => {
      this.#known = partitionMetadata;
      return message.partition ?? NO_PARTITION;
    };
  };

  /**
   * Asks the cluster and sends nothing: kafkajs finds no leader for this record's partition.
   * @throws what kafkajs throws
   */
  async read(producer: Producer): Promise<void> {
    const { Partitioners } = await import('../client/kafkajs.ts');
    this.#choose = Partitioners.DefaultPartitioner();
    this.#known = [];
    await producer.send({ topic: this.#topic, messages: [{ value: null }] }).catch((error: unknown) => {
      if (this.#known.length === 0) throw error;
    });
  }

  /**
   * Returns the partition that the Java client's default partitioner chooses for a key (murmur2 of its bytes). Call
   * `read` first.
   */
  choose(key: string): number {
    if (this.#choose === null) throw new Error('the partitions are not read yet');
    return this.#choose({ topic: this.#topic, partitionMetadata: this.#known, message: { key, value: null } });
  }
}
