// A client, group and topic → messages, one at a time for each partition, each with its commit.
import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import type { Logger } from 'pino';
import { BridgeError } from '../../../src/errors.ts';
import { type Deps, sleep } from '../../../src/time/clock.ts';
import type { TakeMessage } from '../../approval-source.ts';
import type { SocketGate } from '../client/socket-gate.ts';
import { type GroupConsumer, groupConsumer } from './group-consumer.ts';
import { coordinatorOf, leaveGroup, retryUntilCoordinated } from './group-coordinator.ts';
import { type ConsumerGroup, startGroup, startGroupFromOutside } from './group-start.ts';

/** Interval of heartbeats while a message is processed. */
const BEAT_MS = 2_000;
/** A consumer that neither polls nor joins for this time counts as hanging. */
const SILENCE_MS = 20_000;
/** Time limit for leaving, which needs one answer of the broker. The bridge waits 2 s for its sources. */
const LEAVE_MS = 1_500;
const PARTITIONS_AT_ONCE = 16;

interface GroupMemberOptions extends ConsumerGroup {
  /** Whether this process has read the topic before. A partition without an offset is then new. */
  readonly hasStarted: boolean;
  readonly take: TakeMessage;
  /** Called when a broker accepts this client. */
  readonly connected: () => void;
  /** Called when the group has offsets. `isNew`: it had none before. */
  readonly started: (isNew: boolean) => void;
  /** Called when messages can arrive. */
  readonly ready: () => void;
  /** The id of the last processed message, by partition. The caller passes it from member to member. */
  readonly taken: Map<number, string>;
  /** The gate of all connections of the client; closed when the group is left. */
  readonly gate: SocketGate;
  /** Called when leaving begins. */
  readonly leaving: () => void;
  /** Converts an error of kafkajs. */
  readonly faultOf: (error: unknown) => BridgeError;
}

interface GroupMemberDeps extends Pick<Deps, 'after' | 'elapsedMs' | 'wallMs'> {
  readonly logger: Logger;
}

/** One consumer, from connecting to leaving. */
export class GroupMember {
  readonly #options: GroupMemberOptions;
  readonly #deps: GroupMemberDeps;
  readonly #failure = Promise.withResolvers<never>();
  readonly #batches = new Set<Promise<void>>();
  #opening: Promise<void> | null = null;
  #open: GroupConsumer | null = null;
  #memberId: string | null = null;
  #isReady = false;
  #startsInside = false;
  #left: Promise<void> | null = null;
  #cancelWatch = () => {};

  constructor(options: GroupMemberOptions, deps: GroupMemberDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#failure.promise.catch(() => {});
  }

  /** Receives messages; never resolves. @throws BridgeError, or the error of `take` unchanged */
  async run(kafka: Promise<Kafka>): Promise<never> {
    this.#opening = this.#enter(kafka);
    this.#opening.catch((error: unknown) => this.#failure.reject(this.#options.faultOf(error)));
    return await this.#failure.promise;
  }

  /** Finishes and commits the current message, and leaves the group, within 1.5 s. Idempotent. Never rejects. */
  leave(): Promise<void> {
    if (this.#left === null) {
      this.#options.leaving();
      this.#left = this.#bounded(this.#leave());
    }
    return this.#left;
  }

  async #enter(kafka: Promise<Kafka>): Promise<void> {
    const { groupId, topic, hasStarted, connected, started } = this.#options;
    const made = await groupConsumer(await kafka, groupId);
    const { consumer, cluster } = made;
    await consumer.connect();
    connected();
    // A partition without an offset is new: the group's first offsets are committed below.
    await consumer.subscribe({ topic, fromBeginning: true });
    await retryUntilCoordinated(this.#deps, async () => {
      const coordinator = await coordinatorOf(cluster, groupId);
      if (hasStarted) return;
      const start = await startGroupFromOutside(cluster, coordinator, this.#options);
      if (start === 'has-members') this.#startsInside = true;
      else started(start !== null);
    });
    this.#watch(made);
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: async (payload) => {
        const batch = this.#takeBatch(payload);
        this.#batches.add(batch);
        await batch.finally(() => this.#batches.delete(batch));
      },
    });
    this.#open = made;
  }

  #watch(made: GroupConsumer): void {
    const { consumer } = made;
    const { events } = consumer;
    const { faultOf, source, topic } = this.#options;
    const alive = () => {
      this.#cancelWatch();
      if (this.#left !== null) return;
      this.#cancelWatch = this.#deps.after(SILENCE_MS, () => this.#failure.reject(hung(source, topic)));
    };
    consumer.on(events.CRASH, ({ payload }) => this.#failure.reject(faultOf(payload.error)));
    consumer.on(events.FETCH, alive);
    consumer.on(events.HEARTBEAT, alive);
    consumer.on(events.GROUP_JOIN, ({ payload: { memberId, memberAssignment } }) => {
      this.#memberId = memberId;
      alive();
      const partitions = memberAssignment[topic] ?? [];
      this.#deps.logger.debug({ topic, partitions }, 'joined the consumer group');
      // Before its first poll, which follows immediately.
      if (this.#startsInside) consumer.pause([{ topic }]);
      this.#joined(made, partitions).catch((error: unknown) => this.#failure.reject(faultOf(error)));
    });
    alive();
  }

  async #joined(made: GroupConsumer, partitions: readonly number[]): Promise<void> {
    if (this.#startsInside) await this.#startInside(made, partitions);
    if (!this.#isReady && this.#left === null) this.#options.ready();
    this.#isReady = true;
  }

  /**
   * Commits the first offsets as a member. The group has other members, which read other topics, and only members can
   * commit.
   */
  async #startInside({ consumer, cluster }: GroupConsumer, partitions: readonly number[]): Promise<void> {
    const { groupId, topic, started } = this.#options;
    const ends = await startGroup(
      cluster,
      await coordinatorOf(cluster, groupId),
      this.#options,
      ({ partitions: ends }) =>
        consumer.commitOffsets(ends.map(({ partition, offset }) => ({ topic, partition, offset }))),
    );
    this.#startsInside = false;
    started(ends !== null);
    for (const [partition, offset] of ends ?? [])
      if (partitions.includes(partition)) consumer.seek({ topic, partition, offset });
    consumer.resume([{ topic }]);
  }

  async #takeBatch({
    batch,
    resolveOffset,
    heartbeat,
    commitOffsetsIfNecessary,
    isRunning,
    isStale,
  }: EachBatchPayload): Promise<void> {
    const { topic, partition } = batch;
    for (const message of batch.messages) {
      if (this.#left !== null || !isRunning() || isStale()) return;
      if (!(await this.#take(partition, message, heartbeat))) return;
      const offset = (BigInt(message.offset) + 1n).toString();
      await commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset }] }] });
      resolveOffset(message.offset);
      await heartbeat();
    }
  }

  /** Returns false if the message was not processed. */
  async #take(partition: number, message: KafkaMessage, heartbeat: () => Promise<void>): Promise<boolean> {
    const { take, taken, topic } = this.#options;
    const id = `${topic}:${partition}:${message.offset}:${message.timestamp}`;
    // The message was processed, and only its commit failed.
    if (taken.get(partition) === id) return true;
    const beating = new AbortController();
    this.#beat(heartbeat, beating.signal);
    try {
      await take({
        id,
        place: { topic, partition, offset: Number(message.offset) },
        body: message.value,
        sentMs: this.#sentMs(message),
      });
      taken.set(partition, id);
      return true;
    } catch (error) {
      this.#failure.reject(error);
      // Immediately: otherwise kafkajs would read the message again.
      void this.leave();
      return false;
    } finally {
      beating.abort();
    }
  }

  /** Sends heartbeats while a message is processed. Errors are ignored: they occur again at the commit. */
  #beat(heartbeat: () => Promise<void>, signal: AbortSignal): void {
    sleep(this.#deps, BEAT_MS, signal)
      .then(heartbeat)
      .then(() => this.#beat(heartbeat, signal))
      .catch(() => {});
  }

  /** Returns the time of a message, or the current time: messages of old producers may have none. */
  #sentMs({ timestamp }: KafkaMessage): number {
    const sentMs = Number(timestamp);
    return sentMs >= 0 ? sentMs : this.#deps.wallMs();
  }

  async #leave(): Promise<void> {
    this.#cancelWatch();
    const { gate, groupId } = this.#options;
    // Close the sockets first: a consumer that is closed while it joins would become a member that reads nothing.
    if (this.#open === null) gate.close();
    await this.#opening?.catch(() => {});
    if (this.#open === null) return;
    const { consumer, cluster } = this.#open;
    // kafkajs waits for its poll before it leaves.
    const closed = consumer.disconnect().catch(() => {});
    await Promise.allSettled(this.#batches);
    if (this.#memberId !== null) await leaveGroup(cluster, groupId, this.#memberId).catch(() => {});
    gate.close();
    await closed;
  }

  #bounded(leaving: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#deps.after(LEAVE_MS, () => {
        this.#options.gate.close();
        resolve();
      });
      void leaving.then(() => {
        cancel();
        resolve();
      });
    });
  }
}

function hung(source: string, topic: string): BridgeError {
  return new BridgeError(
    'BRIDGE_KAFKA_TIMEOUT',
    `source ${source} received nothing from the brokers for ${SILENCE_MS / 1000} s: it reconnects to topic ${topic}`,
    { disposition: 'retry', scope: 'sink' },
  );
}
