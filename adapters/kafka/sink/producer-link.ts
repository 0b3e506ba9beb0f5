// One producer and its sockets → one request at a time for each partition, until answer or abort.
import type { Kafka, Producer, RecordMetadata } from 'kafkajs';
import { BridgeError, type ErrorCode } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import { type Deps, orAbort, sleep } from '../../../src/time/clock.ts';
import type { WrapSockets } from '../client/kafka-client.ts';
import { BrokerPauses } from '../client/repairs/broker-pauses.ts';
import { SocketGate } from '../client/socket-gate.ts';
import { type FaultContext, kafkaFault } from '../kafka-fault.ts';
import type { KafkaOperation } from '../protocol-meanings.ts';
import type { EncodedRecord } from './record-encoder.ts';
import { createTopic, type NewTopic, TopicPartitions } from './topic.ts';

/** The brokers' share of the time limit: they answer before the bridge stops waiting, so that their result is known. */
const BROKER_SHARE = 0.8;
/** Time limit for closing unused connections. */
const DISCONNECT_MS = 1000;
/** Delay before an idempotent producer repeats a request after a broken connection. */
const REPEAT_DELAY_MS = 50;

export interface LinkOptions {
  /** Creates a client with sockets from `wrap`. */
  readonly client: (wrap: WrapSockets) => Promise<Kafka>;
  readonly who: string;
  readonly brokers: readonly string[];
  readonly uses: Required<FaultContext>['uses'];
  readonly topic: string;
  readonly createTopic?: NewTopic;
  readonly compression: 'none' | 'gzip';
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  readonly metadataMaxAgeMs: number;
}

/**
 * Connects at the first call. After a request without an answer the link is retired, and the caller must create
 * another.
 */
export class ProducerLink {
  readonly #options: LinkOptions;
  readonly #deps: Pick<Deps, 'after' | 'elapsedMs'>;
  readonly #gate = new SocketGate();
  /** Resolves when no sent request can arrive any more. */
  readonly gone: Promise<void>;
  #resolveGone: () => void = () => {};
  #producer: Producer | null = null;
  #opening: Promise<void> | null = null;
  readonly #partitions: TopicPartitions;
  #compression = 0;
  #isOpen = false;
  #running = 0;
  #isRetired = false;
  #hasWorked: boolean;
  readonly #pauses: BrokerPauses;

  /** @param hasWorked whether an earlier link had records accepted */
  constructor(options: LinkOptions, deps: Pick<Deps, 'after' | 'elapsedMs'>, hasWorked: boolean) {
    this.#hasWorked = hasWorked;
    this.#options = options;
    this.#deps = deps;
    this.#pauses = new BrokerPauses(deps);
    this.#partitions = new TopicPartitions(options.topic);
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Whether this or an earlier link had records accepted. */
  get hasWorked(): boolean {
    return this.#hasWorked;
  }

  get heldUntilMs(): number {
    return this.#pauses.heldUntilMs;
  }

  /** Connects, and creates the topic if `createTopic` is set. @throws BridgeError; then the link is retired */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      void this.close();
      throw error;
    });
    return this.#opening;
  }

  /** Whether the link is connected and its topic found. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isRetired;
  }

  /** Returns the partition that the Java client would choose. The link must be open. */
  choosePartition(key: string): number {
    return this.#partitions.choose(key);
  }

  /**
   * Sends one request. Rejects at once with the signal's reason, although the request may still arrive until `gone`
   * resolves.
   * @throws BridgeError; if no broker answered, the link is retired
   */
  async send(partition: number, records: readonly EncodedRecord[], signal: AbortSignal): Promise<void> {
    this.#running += 1;
    try {
      await orAbort(this.#produce(partition, records), signal);
      this.#hasWorked = true;
    } catch (error) {
      // After any failure an idempotent producer may have a wrong sequence (kafkajs rolls it back).
      if (this.#options.idempotent || signal.aborted || !isAnswer(error)) this.retire();
      throw error;
    } finally {
      this.#running -= 1;
      this.#cutWhenDone();
    }
  }

  /** Refuses new requests. Closes every socket when the running requests have ended. Idempotent. */
  retire(): void {
    this.#isRetired = true;
    this.#cutWhenDone();
  }

  /** Like `retire`, but disconnects from the brokers first, within a second. Never rejects. */
  async close(): Promise<void> {
    this.#isRetired = true;
    if (this.#producer !== null && this.#running === 0) {
      const limit = new AbortController();
      const disconnected = this.#producer.disconnect().catch(() => {});
      await Promise.race([disconnected, sleep(this.#deps, DISCONNECT_MS, limit.signal).catch(() => {})]);
      limit.abort();
    }
    this.#cutWhenDone();
    await this.gone;
  }

  faultOf(error: unknown, operation: KafkaOperation): BridgeError {
    return kafkaFault(error, this.context(operation));
  }

  context(operation: KafkaOperation): FaultContext {
    const { who, topic, brokers, uses, timeoutMs } = this.#options;
    const limit = formatDuration(timeoutMs);
    return { who, topic, brokers, uses, operation, limit, connected: this.#gate.connected, hasWorked: this.#hasWorked };
  }

  #cutWhenDone(): void {
    if (!this.#isRetired || this.#running > 0) return;
    this.#gate.close();
    this.#resolveGone();
  }

  async #open(): Promise<void> {
    const { client, idempotent, compression, metadataMaxAgeMs } = this.#options;
    try {
      const { tolerateLeaderless } = await import('../client/repairs/kafkajs-repairs.ts');
      const kafka = await client((factory) => tolerateLeaderless(this.#gate.wrap(factory)));
      if (this.#isRetired) throw new Error('closed before it was open');
      this.#producer = kafka.producer({
        allowAutoTopicCreation: false,
        metadataMaxAge: metadataMaxAgeMs,
        idempotent,
        // The minimum of kafkajs. The brokers drop the repeat; a closed gate prevents it.
        retry: { retries: idempotent ? 1 : 0, initialRetryTime: REPEAT_DELAY_MS },
        createPartitioner: this.#partitions.partitioner,
      });
      this.#pauses.watch(this.#producer);
      await this.#producer.connect();
      await this.#findTopic(kafka, this.#producer);
      const { CompressionTypes } = await import('../client/kafkajs.ts');
      this.#compression = compression === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None;
      this.#isOpen = true;
    } catch (error) {
      throw this.faultOf(error, 'connect');
    }
  }

  async #findTopic(kafka: Kafka, producer: Producer): Promise<void> {
    const { topic, createTopic: wanted } = this.#options;
    try {
      await this.#partitions.read(producer);
    } catch (error) {
      const failure = this.faultOf(error, 'find');
      if (failure.status !== 'UNKNOWN_TOPIC_OR_PARTITION' || wanted === undefined) throw failure;
      await createTopic(kafka, topic, wanted).catch((reason: unknown) => {
        throw this.faultOf(reason, 'create');
      });
      await this.#partitions.read(producer).catch((reason: unknown) => {
        throw this.faultOf(reason, 'produce');
      });
    }
  }

  async #produce(partition: number, records: readonly EncodedRecord[]): Promise<void> {
    const { topic, timeoutMs } = this.#options;
    const producer = this.#producer;
    if (producer === null || !this.isOpen)
      throw this.#failure('BRIDGE_KAFKA_BROKEN', 'the connection was closed in the meantime: the bridge retries');
    let answers: RecordMetadata[];
    try {
      answers = await producer.send({
        topic,
        acks: -1,
        timeout: Math.ceil(timeoutMs * BROKER_SHARE),
        compression: this.#compression,
        messages: records.map((record) => ({ ...record, partition })),
      });
    } catch (error) {
      throw this.faultOf(error, 'produce');
    }
    if (answers.some((answer) => answer.partition === partition && answer.errorCode === 0)) return;
    // kafkajs sends nothing to an unknown partition, and reports success.
    throw this.#failure(
      'BRIDGE_KAFKA_UNAVAILABLE',
      `topic ${topic} no longer has partition ${partition}: the bridge retries with the current metadata`,
    );
  }

  #failure(code: ErrorCode, what: string): BridgeError {
    return new BridgeError(code, `${this.#options.who}: ${what}`, { disposition: 'retry' });
  }
}

/** Returns whether the error is a broker's answer. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof BridgeError &&
    (error.code === 'BRIDGE_KAFKA_REFUSED' ||
      error.code === 'BRIDGE_KAFKA_UNAVAILABLE' ||
      error.disposition === 'misconfigured')
  );
}
