// A kafkajs producer → the topic's partitions, and the partition of a key.
import type { ICustomPartitioner, PartitionMetadata, Producer } from 'kafkajs';

/** No partition has it. */
const NO_PARTITION = -1;

/** kafkajs tells what it knows of partitions to a producer's partitioner alone, each time that something is sent. */
export class TopicPartitions {
  readonly #topic: string;
  #known: PartitionMetadata[] = [];
  #choose: ReturnType<ICustomPartitioner> | null = null;

  constructor(topic: string) {
    this.#topic = topic;
  }

  /** For the producer: what is sent names its partition itself. */
  readonly partitioner: ICustomPartitioner = () => {
    return ({ partitionMetadata, message }) => {
      this.#known = partitionMetadata;
      return message.partition ?? NO_PARTITION;
    };
  };

  /** Asks the cluster; sends nothing: kafkajs finds no leader for the partition that this record is given. @throws what kafkajs throws */
  async read(producer: Producer): Promise<void> {
    const { Partitioners } = await import('../client/kafkajs.ts');
    this.#choose = Partitioners.DefaultPartitioner();
    this.#known = [];
    await producer.send({ topic: this.#topic, messages: [{ value: null }] }).catch((error: unknown) => {
      if (this.#known.length === 0) throw error;
    });
  }

  /** Where the Java client's default partitioner puts a record with this key (murmur2 of its bytes); once they were read. */
  choose(key: string): number {
    if (this.#choose === null) throw new Error('the partitions are not read yet');
    return this.#choose({ topic: this.#topic, partitionMetadata: this.#known, message: { key, value: null } });
  }
}
