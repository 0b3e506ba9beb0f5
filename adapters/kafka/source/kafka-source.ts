// A Kafka topic → its approvals, read by one consumer group for each bridge or for all.
import type { Logger } from 'pino';
import type { BridgeError } from '../../../src/errors.ts';
import { orAbort } from '../../../src/time/clock.ts';
import type {
  ApprovalSource,
  ApprovalSourceDefinition,
  ApprovalSourceDeps,
  TakeMessage,
} from '../../approval-source.ts';
import { kafkaClients } from '../client/kafka-client.ts';
import { SocketGate } from '../client/socket-gate.ts';
import { kafkaPlace } from '../kafka-channel.ts';
import { showBroker } from '../options/broker-address.ts';
import { connectionSettings, kafkaConnectionFaults } from '../options/connection-options.ts';
import { type KafkaSourceOptions, kafkaSourceOptions } from '../options/kafka-source-options.ts';
import { groupFault } from './group-fault.ts';
import { GroupMember } from './group-member.ts';
import type { ConsumerGroup } from './group-start.ts';
import { checkKafkaSource } from './kafka-source-check.ts';

/** Prefix of the VM's name in the default group. */
const GROUP_PREFIX = 'scheduled-events-bridge-';

/** Approvals from a topic (behaviour 8.11). */
export const kafkaSource: ApprovalSourceDefinition<KafkaSourceOptions> = {
  options: kafkaSourceOptions,
  secretFaults: kafkaConnectionFaults,
  readersOf: ({ readers }) => readers,
  streamsOf: (options) =>
    brokersOf(options).map((broker) => [broker, options.topic, options.groupId ?? GROUP_PREFIX].join(' ')),
  channel: kafkaPlace,
  create: (options, deps) => new KafkaSource(options, deps),
};

class KafkaSource implements ApprovalSource {
  /** A partition is read in order: a returned message would block the later ones. */
  readonly canGiveBack = false;
  readonly #options: KafkaSourceOptions;
  readonly #deps: ApprovalSourceDeps;
  readonly #group: ConsumerGroup;
  /** The logger for kafkajs; silent during a close, when kafkajs logs the closed sockets as errors. */
  readonly #clientLogger: Logger;
  readonly #taken = new Map<number, string>();
  /** Shares tokens between members. */
  readonly #clients: ReturnType<typeof kafkaClients>;
  #hasStarted = false;
  #hasConnected = false;
  #hasWorked = false;
  #leaving: Promise<void> = Promise.resolve();

  constructor(options: KafkaSourceOptions, deps: ApprovalSourceDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#clientLogger = deps.logger.child({});
    this.#clients = kafkaClients(options, { ...deps, logger: this.#clientLogger }, this.#place);
    const { topic, groupId = `${GROUP_PREFIX}${deps.observerId}` } = options;
    this.#group = { topic, groupId, source: deps.name };
  }

  async check(signal: AbortSignal): Promise<string | null> {
    const gate = new SocketGate();
    try {
      // Some requests are expected to fail; other errors are thrown.
      const silent = this.#deps.logger.child({}, { level: 'silent' });
      const client = await kafkaClients(this.#options, { ...this.#deps, logger: silent }, this.#place)(gate.wrap);
      return await orAbort(
        checkKafkaSource(client, this.#group, { ...this.#deps, connected: this.#connected }),
        signal,
      );
    } catch (error) {
      throw signal.aborted ? error : this.#faultOf(error, gate);
    } finally {
      gate.close();
    }
  }

  async receive(take: TakeMessage, signal: AbortSignal, ready: () => void): Promise<void> {
    // The previous member keeps its partitions until it has left.
    await orAbort(this.#leaving, signal);
    this.#clientLogger.level = this.#deps.logger.level;
    const gate = new SocketGate();
    const member = this.#member(take, ready, gate);
    try {
      await orAbort(member.run(this.#clients(gate.wrap)), signal);
    } finally {
      this.#leaving = member.leave();
    }
  }

  /** Finishes and commits the current message first. */
  async close(): Promise<void> {
    await this.#leaving;
  }

  #member(take: TakeMessage, ready: () => void, gate: SocketGate): GroupMember {
    const { topic, groupId } = this.#group;
    const options = {
      ...this.#group,
      hasStarted: this.#hasStarted,
      take,
      taken: this.#taken,
      connected: this.#connected,
      started: (isNew: boolean) => {
        this.#hasStarted = true;
        if (isNew)
          this.#deps.logger.info({ topic, groupId }, 'the consumer group is new: it starts at the end of the topic');
      },
      ready: () => {
        this.#hasWorked = true;
        ready();
      },
      gate,
      leaving: () => {
        this.#clientLogger.level = 'silent';
      },
      faultOf: (error: unknown) => this.#faultOf(error, gate),
    };
    return new GroupMember(options, this.#deps);
  }

  readonly #connected = (): void => {
    this.#hasConnected = true;
  };

  get #place(): string {
    return `approvals.sources.${this.#deps.name}`;
  }

  #faultOf(error: unknown, { connected }: SocketGate): BridgeError {
    const { topic, source } = this.#group;
    return groupFault(error, this.#group, {
      who: `source ${source}`,
      topic,
      brokers: brokersOf(this.#options),
      operation: this.#hasConnected ? 'consume' : 'connect',
      connected,
      hasWorked: this.#hasWorked,
    });
  }
}

function brokersOf(options: KafkaSourceOptions): readonly string[] {
  return connectionSettings(options).brokers.map(showBroker);
}
