// Which broker of which cluster, with what listeners → the text of its configuration file.
import { join } from 'node:path';
import type { PortBlock } from './ports.ts';
import { type Certificates, securityProperties } from './security.ts';

/**
 * `PLAINTEXT`: everybody may do everything. `TLS`: the same, encrypted. `MTLS`: asks for a client's certificate. `SASL`
 * and `SASL_TLS`: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER, plain and encrypted.
 */
export type Listener = 'PLAINTEXT' | 'TLS' | 'MTLS' | 'SASL' | 'SASL_TLS';

const PROTOCOLS: Readonly<Record<Listener | 'CONTROLLER', string>> = {
  PLAINTEXT: 'PLAINTEXT',
  CONTROLLER: 'PLAINTEXT',
  TLS: 'SSL',
  MTLS: 'SSL',
  SASL: 'SASL_PLAINTEXT',
  SASL_TLS: 'SASL_SSL',
};
const NAMES = Object.keys(PROTOCOLS) as (Listener | 'CONTROLLER')[];

export interface Place {
  readonly nodeId: number;
  readonly ports: PortBlock;
  /** Of its data, its log and its configuration. */
  readonly folder: string;
}

export interface PropertiesOptions {
  /** With them it has all listeners, else PLAINTEXT alone. */
  readonly certificates?: Certificates | undefined;
  /** Besides, and before all others. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

/** The folder of its disk. */
export function dataOf({ folder }: Pick<Place, 'folder'>): string {
  return join(folder, 'data');
}

/** `host:port` of a listener of a broker at such a place. */
export function addressOf({ ports }: Pick<Place, 'ports'>, listener: Listener | 'CONTROLLER'): string {
  return `127.0.0.1:${ports.port(NAMES.indexOf(listener))}`;
}

/** @param cluster all its brokers, this one too; each is a controller besides */
export function serverProperties(place: Place, cluster: readonly Place[], options: PropertiesOptions = {}): string {
  const { certificates, properties } = options;
  const open = NAMES.filter((name) => certificates || name === 'PLAINTEXT' || name === 'CONTROLLER');
  const urls = (names: readonly (Listener | 'CONTROLLER')[]) =>
    names.map((name) => `${name}://${addressOf(place, name)}`);
  const told = urls(open.filter((name) => name !== 'CONTROLLER'));
  const replicas = String(cluster.length);
  const lines: Readonly<Record<string, string>> = {
    'process.roles': 'broker,controller',
    'node.id': String(place.nodeId),
    'controller.quorum.voters': cluster.map((other) => `${other.nodeId}@${addressOf(other, 'CONTROLLER')}`).join(','),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    listeners: urls(open).join(','),
    'advertised.listeners': told.join(','),
    'listener.security.protocol.map': open.map((name) => `${name}:${PROTOCOLS[name]}`).join(','),
    'log.dirs': dataOf(place),
    // A client that asks for a topic in the wrong way makes it, so that tests can see that ours does not.
    'auto.create.topics.enable': 'true',
    // The records of tests bear dates of long ago, which a broker would delete half a minute after its start.
    'log.retention.ms': '-1',
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.num.partitions': '1',
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': '1',
    // A broker that was killed can register again once its session has ended, and only then do others lead its
    // partitions.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    // Little of everything.
    'num.network.threads': '1',
    'num.io.threads': '4',
    'background.threads': '2',
    'log.cleaner.dedupe.buffer.size': '4194304',
    'log.index.size.max.bytes': '1048576',
    ...(certificates && securityProperties(certificates)),
    ...properties,
  };
  return Object.entries(lines)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
