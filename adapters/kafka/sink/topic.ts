// `createTopic` → the topic, created in the cluster if it is missing.
import type { Kafka } from 'kafkajs';

export interface NewTopic {
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly config: Readonly<Record<string, string>>;
}

/** Creates the topic. Succeeds if it exists already. @throws what kafkajs throws */
export async function createTopic(kafka: Kafka, topic: string, wanted: NewTopic): Promise<void> {
  await ask(kafka, topic, wanted, false);
}

/** Checks if this user could create the topic with these settings. Creates nothing. @throws what kafkajs throws */
export async function tryCreateTopic(kafka: Kafka, topic: string, wanted: NewTopic): Promise<void> {
  await ask(kafka, topic, wanted, true);
}

async function ask(kafka: Kafka, topic: string, { partitions, replicationFactor, config }: NewTopic, validateOnly: boolean): Promise<void> {
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
