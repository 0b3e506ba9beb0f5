// A sink's options → whether a record would be accepted, step by step, without sending one.
import type { Cluster, Kafka, PartitionMetadata } from 'kafkajs';
import { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import { type Deps, deadline, orAbort } from '../../../src/time/clock.ts';
import { SocketGate } from '../client/socket-gate.ts';
import { kafkaFault, kafkaTimeoutFault } from '../kafka-fault.ts';
import type { KafkaOperation } from '../protocol-meanings.ts';
import type { LinkOptions } from './producer-link.ts';
import { createTopic as create } from './topic.ts';
import { mayWrite } from './topic-rights.ts';

const TOPIC_RESOURCE = 2;
const IN_SYNC = 'min.insync.replicas';
const CLEANUP = 'cleanup.policy';

interface CheckOptions extends LinkOptions {
  /** Whether records have a key. */
  readonly keyed: boolean;
}

/**
 * Connects, opens TLS, logs in, finds the topic (or checks if it could be created), connects to the leader of each
 * partition, and asks for the right to write.
 * @returns remarks for the operator, or null. Rejects with the signal's reason. @throws BridgeError with the step that
 * failed
 */
export async function checkKafka(
  options: CheckOptions,
  deps: Pick<Deps, 'after'>,
  signal: AbortSignal,
): Promise<string | null> {
  using check = new Check(options);
  using limit = deadline(deps, options.timeoutMs, () => check.tooSlow(), signal);
  return await orAbort(check.run(), limit.signal);
}

class Check implements Disposable {
  readonly #options: CheckOptions;
  readonly #gate = new SocketGate();
  #operation: KafkaOperation = 'connect';

  constructor(options: CheckOptions) {
    this.#options = options;
  }

  async run(): Promise<string | null> {
    try {
      return await this.#run();
    } catch (error) {
      throw kafkaFault(error, this.#context());
    }
  }

  tooSlow(): BridgeError {
    return kafkaTimeoutFault(this.#context());
  }

  [Symbol.dispose](): void {
    this.#gate.close();
  }

  async #run(): Promise<string | null> {
    const { client, topic, idempotent } = this.#options;
    const { tolerateLeaderless } = await import('../client/repairs/kafkajs-repairs.ts');
    const kafka = await client((factory) => tolerateLeaderless(this.#gate.wrap(factory)));
    const cluster = clusterOf(kafka);
    await cluster.connect();
    // Brokers assign a producer id only to users with the right to idempotence.
    if (idempotent)
      await kafka.producer({ idempotent, retry: { retries: 1 }, allowAutoTopicCreation: false }).connect();
    this.#operation = 'find';
    const isThere = await this.#findTopic(cluster);
    if (!isThere) return await this.#tryToMakeTopic(kafka);
    this.#operation = 'connect';
    const partitions = cluster.findTopicPartitionMetadata(topic);
    const leaders = new Set(partitions.map(({ leader }) => leader).filter((leader) => leader >= 0));
    for (const leader of leaders) await cluster.findBroker({ nodeId: String(leader) });
    this.#operation = 'produce';
    const [leader] = leaders;
    const rights = leader === undefined ? null : await this.#rights(cluster, leader);
    const leaderless = partitions.filter((partition) => partition.leader < 0).length;
    const found = [
      leaderless === 0
        ? null
        : `${leaderless} of the ${partitions.length} partitions of topic ${topic} have no leader now: check the brokers`,
      rights,
      ...(await this.#configured(cluster, partitions)),
    ].filter((text) => text !== null);
    return found.length === 0 ? null : found.join('; ');
  }

  async #findTopic(cluster: Cluster): Promise<boolean> {
    const { topic, createTopic } = this.#options;
    try {
      await cluster.addTargetTopic(topic);
      return true;
    } catch (error) {
      const failure = kafkaFault(error, this.#context());
      if (createTopic === undefined || failure.status !== 'UNKNOWN_TOPIC_OR_PARTITION') throw failure;
      return false;
    }
  }

  async #tryToMakeTopic(kafka: Kafka): Promise<string> {
    const { topic, createTopic } = this.#options;
    this.#operation = 'create';
    if (createTopic) await create(kafka, topic, createTopic, true);
    return `topic ${topic} does not exist yet: the first delivery creates it (createTopic)`;
  }

  async #rights(cluster: Cluster, leader: number): Promise<string | null> {
    const { topic, who } = this.#options;
    const isAllowed = await mayWrite(await cluster.findBroker({ nodeId: String(leader) }), topic);
    if (isAllowed === null) return `these brokers do not report whether this user may write to topic ${topic}`;
    if (isAllowed) return null;
    const message = `${who}: this user lacks the right WRITE on topic ${topic}: add an ACL that grants it (TOPIC_AUTHORIZATION_FAILED)`;
    throw new BridgeError('BRIDGE_KAFKA_UNAUTHORIZED', message, {
      disposition: 'misconfigured',
      scope: 'sink',
      status: 'TOPIC_AUTHORIZATION_FAILED',
    });
  }

  /** Returns remarks about the topic's durability, and whether it accepts the sink's records. */
  async #configured(cluster: Cluster, partitions: readonly PartitionMetadata[]): Promise<readonly (string | null)[]> {
    const { topic, keyed } = this.#options;
    const replicas = Math.min(...partitions.map((partition) => partition.replicas.length));
    const config = replicas > 1 || !keyed ? await this.#config(cluster) : new Map<string, string>();
    const isCompacted = config.get(CLEANUP)?.includes('compact') ?? false;
    return [
      replicas === 1 ? `topic ${topic} has only one replica: accepted records are lost if its disk fails` : null,
      replicas > 1 && config.get(IN_SYNC) === '1'
        ? `topic ${topic} has ${replicas} replicas, but ${IN_SYNC} is 1: while the others are down, a single broker accepts records`
        : null,
      isCompacted && !keyed ? `topic ${topic} is compacted and rejects records without a key: set keyed: true` : null,
    ];
  }

  /**
   * Returns the topic's configuration, or nothing if the broker does not show it: reading requires a separate right.
   */
  async #config(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
    try {
      const broker = (await cluster.findControllerBroker()) as unknown as ConfigBroker;
      const { resources } = await broker.describeConfigs({
        resources: [{ type: TOPIC_RESOURCE, name: this.#options.topic, configNames: [IN_SYNC, CLEANUP] }],
      });
      return new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]));
    } catch {
      return new Map();
    }
  }

  #context() {
    const { who, topic, brokers, uses, timeoutMs } = this.#options;
    const limit = formatDuration(timeoutMs);
    return {
      who,
      topic,
      brokers,
      uses,
      limit,
      operation: this.#operation,
      connected: this.#gate.connected,
      hasWorked: false,
    };
  }
}

interface ConfigBroker {
  describeConfigs(request: {
    readonly resources: readonly {
      readonly type: number;
      readonly name: string;
      readonly configNames: readonly string[];
    }[];
  }): Promise<{
    readonly resources: readonly { readonly configEntries: readonly { configName: string; configValue: string }[] }[];
  }>;
}

/**
 * Returns kafkajs's cluster object, which only partition assigners receive. The consumer created for that is never
 * connected.
 */
function clusterOf(kafka: Kafka): Cluster {
  const clusters: Cluster[] = [];
  kafka.consumer({
    groupId: 'none',
    allowAutoTopicCreation: false,
    partitionAssigners: [
      ({ cluster }) => {
        clusters.push(cluster);
        return {
          name: 'none',
          version: 0,
          assign: async () => [],
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  const [cluster] = clusters;
  if (cluster === undefined) throw new TypeError('kafkajs created a consumer without calling its assigner');
  return cluster;
}
