// The kind `kafka`: options → an adapter that writes to a topic, or a source of approvals.
import { type Encoded, encodeEach } from '../../src/cloudevents/unencodable.ts';
import { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { kafkaClients } from './client/kafka-client.ts';
import { kafkaChannel } from './kafka-channel.ts';
import { showBroker } from './options/broker-address.ts';
import { type ConnectionSettings, connectionSettings, kafkaConnectionFaults } from './options/connection-options.ts';
import { type KafkaOptions, kafkaOptions } from './options/kafka-options.ts';
import { checkKafka } from './sink/kafka-check.ts';
import { type EncodedRecord, encodeRecord, recordBytes } from './sink/record-encoder.ts';
import { KafkaSender, type KafkaSenderOptions } from './sink/sender.ts';
import { kafkaSource } from './source/kafka-source.ts';

/** Half of a topic's default limit for one request; the rest is for headers and framing. */
const LIMITS: AdapterLimits = { inFlight: 8, batch: 500, batchBytes: 512 * 1024 };
/** Overhead of a request. */
const REQUEST_BYTES = 1024;

/** Sends one request for each partition of a batch. Its members share an outcome. Connects at the first delivery. */
class KafkaAdapter implements Adapter {
  readonly limits = LIMITS;
  readonly #options: KafkaOptions;
  readonly #deps: AdapterDeps;
  readonly #who: string;
  readonly #client: KafkaSenderOptions['client'];
  #settings: ConnectionSettings | null = null;
  #sender: KafkaSender | null = null;

  constructor(options: KafkaOptions, deps: AdapterDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#who = `sink ${deps.name}`;
    this.#client = kafkaClients(options, deps, `sinks.${deps.name}`);
  }

  /** Connects like a delivery, finds the topic and asks for the right to write. Sends no record. */
  async check(signal: AbortSignal): Promise<string | null> {
    return await checkKafka({ ...this.#senderOptions(), keyed: this.#options.keyed }, this.#deps, signal);
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const ofWhat = { sink: this.#deps.name, made: 'record' } as const;
    const { members, refused } = encodeEach(batch, (delivery) => this.#encode(delivery), ofWhat);
    const outcomes: Outcome[] = refused;
    if (members.length === 0) return outcomes;
    const settle = (some: readonly Encoded<EncodedRecord>[], outcome: Outcome) => {
      for (const { index } of some) outcomes[index] = outcome;
    };
    try {
      const sender = this.#open();
      const choose = await sender.choosePartition(signal);
      const groups = Map.groupBy(members, ({ key }) => choose(key));
      const sending = [...groups].map(async ([partition, some]) =>
        settle(some, await this.#send(sender, partition, some, signal)),
      );
      await Promise.all(sending);
    } catch (error) {
      if (signal.aborted || !(error instanceof BridgeError)) throw error;
      settle(members, error);
    }
    return outcomes;
  }

  async close(): Promise<void> {
    await this.#sender?.close();
  }

  /** @throws errors that are not answers of the brokers, such as an abort */
  async #send(
    sender: KafkaSender,
    partition: number,
    members: readonly Encoded<EncodedRecord>[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    try {
      await sender.send(
        partition,
        members.map(({ made }) => made),
        signal,
      );
      return 'accepted';
    } catch (error) {
      if (signal.aborted || !(error instanceof BridgeError)) throw error;
      return error;
    }
  }

  #open(): KafkaSender {
    this.#sender ??= new KafkaSender(this.#senderOptions(), this.#deps);
    return this.#sender;
  }

  #connection(): ConnectionSettings {
    this.#settings ??= connectionSettings(this.#options);
    return this.#settings;
  }

  #senderOptions(): KafkaSenderOptions {
    const { topic, createTopic, compression, idempotent, sasl, connectionString } = this.#options;
    const { brokers, timeoutMs, idleMs, metadataMaxAgeMs, tls } = this.#connection();
    return {
      client: this.#client,
      who: this.#who,
      brokers: brokers.map(showBroker),
      uses: { tls: tls !== null, login: sasl !== undefined || connectionString !== undefined },
      ...{ topic, compression, idempotent, timeoutMs, idleMs, metadataMaxAgeMs },
      ...(createTopic && { createTopic }),
    };
  }

  #encode(delivery: Delivery): EncodedRecord {
    const record = encodeRecord(delivery, this.#options, this.#deps.name);
    const { maxRequestBytes, isEventHubs } = this.#connection();
    const bytes = recordBytes(record) + REQUEST_BYTES;
    // Event Hubs closes the connection without an error if a request is larger.
    if (!isEventHubs || bytes < maxRequestBytes) return record;
    const message = `${this.#who}: a request of ${bytes} bytes is larger than the ${maxRequestBytes} that Event Hubs accepts (MESSAGE_TOO_LARGE)`;
    throw new BridgeError('BRIDGE_KAFKA_REFUSED', message, { disposition: 'refused', status: 'MESSAGE_TOO_LARGE' });
  }
}

/** Writes one record for each CloudEvent (CloudEvents Kafka protocol binding 1.0.2). Its key is the partition key. */
export const kafkaSink: AdapterDefinition<KafkaOptions> = {
  type: 'kafka',
  options: kafkaOptions,
  secretFaults: kafkaConnectionFaults,
  create: (options, deps) => new KafkaAdapter(options, deps),
  channel: kafkaChannel,
  source: kafkaSource,
};
