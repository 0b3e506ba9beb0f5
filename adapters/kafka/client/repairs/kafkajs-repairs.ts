// A socket factory → the same factory, with repaired connections in kafkajs (README.md).
import type { ISocketFactory } from 'kafkajs';
import BrokerPool from 'kafkajs/src/cluster/brokerPool.js';
import ConnectionPool from 'kafkajs/src/network/connectionPool.js';
import type { Deps } from '../../../../src/time/clock.ts';
import { RepairedConnection } from './repaired-connection.ts';

type RepairDeps = Pick<Deps, 'elapsedMs' | 'after'>;

const repairs = new WeakMap<ISocketFactory, RepairDeps>();

/** @returns the same factory */
export function repaired(factory: ISocketFactory, deps: RepairDeps): ISocketFactory {
  repairs.set(factory, deps);
  return factory;
}

/**
 * Returns an address for kafkajs, which cuts a host at its first colon: IPv6 as `[2001.db8..1]`, which the connection
 * converts back.
 */
export function spelledForKafkajs({ host, port }: { readonly host: string; readonly port: number }): string {
  const isIpv6 = host.includes(':');
  return isIpv6 ? `${new URL(`http://[${host}]`).hostname.replaceAll(':', '.')}:${port}` : `${host}:${port}`;
}

function spelledBack(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1).replaceAll('.', ':') : host;
}

const { getConnection } = ConnectionPool.prototype;
ConnectionPool.prototype.getConnection = async function (index) {
  const deps = repairs.get(this.socketFactory);
  if (deps !== undefined && !(this.pool[0] instanceof RepairedConnection)) {
    this.host = spelledBack(this.host);
    this.pool = this.pool.map((connection) => new RepairedConnection(connection, this.host, deps));
  }
  return await getConnection.call(this, index);
};

const { connect } = BrokerPool.prototype;
BrokerPool.prototype.connect = async function () {
  if (this.hasConnectedBrokers()) return;
  if (!this.seedBroker) await this.createSeedBroker();
  if (!this.seedBroker || !repairs.has(this.seedBroker.connectionPool.socketFactory)) return await connect.call(this);
  for (const tried = new Set<string>(); ; ) {
    const { seedBroker } = this;
    try {
      await seedBroker.connect();
      this.versions = seedBroker.versions;
      return;
    } catch (error) {
      if (!isAboutOneBroker(error)) throw error;
      tried.add(addressOf(seedBroker.connectionPool));
      await this.createSeedBroker();
      if (tried.has(addressOf(this.seedBroker.connectionPool))) throw error;
    }
  }
};

const { withBroker } = BrokerPool.prototype;
BrokerPool.prototype.withBroker = async function (ask) {
  const nodeIds = Object.keys(this.brokers);
  const isOurs = this.seedBroker !== undefined && repairs.has(this.seedBroker.connectionPool.socketFactory);
  if (!isOurs || nodeIds.length === 0) return await withBroker.call(this, ask);
  let failure: unknown;
  for (const nodeId of nodeIds) {
    try {
      return await ask({ nodeId, broker: await this.findBroker({ nodeId }) });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
};

function addressOf({ host, port }: ConnectionPool): string {
  return `${spelledBack(host)}:${port}`;
}

/** Returns whether another broker may succeed. Wrong credentials fail at every broker. */
function isAboutOneBroker(error: unknown): boolean {
  const names = ['KafkaJSConnectionError', 'KafkaJSConnectionClosedError', 'KafkaJSRequestTimeoutError'];
  return error instanceof Error && names.includes(error.name);
}

const METADATA = 3;
/** LEADER_NOT_AVAILABLE and REPLICA_NOT_AVAILABLE, which concern one partition. */
const OF_ONE_PARTITION: ReadonlySet<number> = new Set([5, 9]);

interface Metadata {
  /** Absent in answers that kafkajs does not parse itself. */
  readonly topicMetadata?: readonly {
    readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[];
  }[];
}

const tolerant = new WeakSet<ISocketFactory>();

/**
 * Tolerates partitions without a leader. kafkajs rejects the metadata of all topics if one partition has an error. With
 * this factory only sends to that partition fail: its leader is -1, which no broker has.
 * @returns the same factory
 */
export function tolerateLeaderless(factory: ISocketFactory): ISocketFactory {
  tolerant.add(factory);
  return factory;
}

const { send } = ConnectionPool.prototype;
ConnectionPool.prototype.send = async function (exchange) {
  const { request, response } = exchange;
  if (request.apiKey !== METADATA || !tolerant.has(this.socketFactory)) return await send.call(this, exchange);
  return await send.call(this, {
    ...exchange,
    response: { ...response, parse: (answer) => response.parse(forgiven(answer as Metadata)) },
  });
};

function forgiven(answer: Metadata): Metadata {
  const topicMetadata = answer.topicMetadata?.map((topic) => ({
    ...topic,
    partitionMetadata: topic.partitionMetadata.map((partition) =>
      OF_ONE_PARTITION.has(partition.partitionErrorCode) ? { ...partition, partitionErrorCode: 0 } : partition,
    ),
  }));
  return { ...answer, ...(topicMetadata && { topicMetadata }) };
}
