// Configuration of the connection to a cluster → checked keys and their settings.
import * as v from 'valibot';
import { isLoopback } from '../../../src/net/private-addresses.ts';
import { type TlsOptions, tlsFaults, tlsSection } from '../../../src/net/tls-options.ts';
import type { OptionFault } from '../../../src/schema/faults.ts';
import {
  type EntriesOf,
  flag,
  flagOr,
  type MappingFault,
  rules,
  secret,
  timeLimit,
  withoutFault,
} from '../../../src/schema/pieces.ts';
import { type Broker, brokerFault, isEventHubsHost, parseBroker, showBroker } from './broker-address.ts';
import { connectionStringFault, connectionStringHost } from './connection-string.ts';
import { saslFaults, saslSection, sendsSecret } from './sasl-options.ts';

const EVENT_HUBS_PORT = 9093;
/** Event Hubs may take this long to answer. */
const LEAST_EVENT_HUBS_TIMEOUT_MS = 20_000;

/** Reported for the whole mapping, and only if both keys are missing. */
const NOWHERE = 'needs brokers, a list of host:port, or the connectionString of an Event Hubs namespace';
const INSECURE = 'would send its secret unencrypted: set ssl: true, or allowInsecure: true if the network is trusted';

/** Keys that sinks and approval sources share. `connectionRules` and `connectionFaults` check combinations of keys. */
export const kafkaConnectionEntries = {
  brokers: v.exactOptional(
    v.pipe(
      v.array(
        v.pipe(v.string(), withoutFault(brokerFault), v.transform(parseBroker)),
        'must be a list such as [localhost:9092]',
      ),
      v.minLength(1, 'must name at least one broker'),
      v.description(
        'Brokers of the cluster, host:port each; the brokers that answer name the others. Omit it with connectionString.',
      ),
    ),
  ),
  clientId: v.pipe(
    v.optional(
      v.pipe(
        v.string(),
        v.regex(/^[A-Za-z0-9._-]{1,249}$/, 'must contain only letters, digits, dots, dashes and underscores'),
      ),
      'scheduled-events-bridge',
    ),
    v.description('The name for this client that brokers show and use for quotas. Default scheduled-events-bridge.'),
  ),
  timeout: v.exactOptional(
    v.pipe(
      timeLimit(),
      v.description(
        'How long a broker may take to answer one request. Default 10s; with preset event-hubs 60s, and at least 20s.',
      ),
    ),
  ),
  ssl: v.exactOptional(
    v.pipe(
      flagOr(
        tlsSection({ shownTo: 'the brokers', host: "each broker's own host" }),
        'must be true, false, or a mapping of ca, cert, key and serverName',
      ),
      v.description(
        'TLS to every broker: true, or your own authorities and a client certificate. The files are read again when they change. ' +
          'Default false; with preset event-hubs true.',
      ),
    ),
  ),
  sasl: v.exactOptional(saslSection),
  preset: v.exactOptional(
    v.pipe(
      v.literal('event-hubs'),
      v.description(
        'event-hubs applies the rules of Azure Event Hubs. Set automatically with connectionString and for Azure host names. Default none.',
      ),
    ),
  ),
  connectionString: v.exactOptional(
    v.pipe(
      secret(),
      v.description(
        'Connection string of an Event Hubs namespace, { env: NAME } or { file: PATH }: brokers, ssl and sasl follow from it.',
      ),
    ),
  ),
  allowInsecure: flag(false, 'Allow sasl plain and oauthbearer without TLS beyond loopback. Default false.'),
};

export type KafkaConnectionOptions = EntriesOf<typeof kafkaConnectionEntries>;

/** Checks combinations of keys, in the pipe of a mapping with `connectionEntries`. */
export function connectionRules<Options extends KafkaConnectionOptions>() {
  return rules<Options>((options) => {
    const isNowhere = options.brokers === undefined && options.connectionString === undefined;
    return [...(isNowhere ? [{ path: [], message: NOWHERE }] : []), ...brokerRules(options), ...otherRules(options)];
  });
}

function brokerRules(options: KafkaConnectionOptions): readonly MappingFault[] {
  const { brokers = [] } = options;
  return brokers.flatMap((broker, index): MappingFault[] => {
    const shown = showBroker(withPort(broker));
    if (broker.port === null && !isEventHubs(options))
      return [{ path: ['brokers', index], message: 'must be host:port: the port is missing' }];
    const isTwice = brokers.slice(0, index).some((earlier) => showBroker(withPort(earlier)) === shown);
    return isTwice ? [{ path: ['brokers', index], message: 'is listed twice' }] : [];
  });
}

function otherRules(options: KafkaConnectionOptions): readonly MappingFault[] {
  const { brokers = [], timeout, sasl, connectionString, allowInsecure } = options;
  const isSlow = timeout !== undefined && timeout < LEAST_EVENT_HUBS_TIMEOUT_MS && isEventHubs(options);
  const isOpen = !usesTls(options) && !allowInsecure && !brokers.every(({ host }) => isLoopback(host));
  return [
    ...(isSlow ? [{ key: 'timeout', message: 'must be at least 20s: Event Hubs itself may take that long' }] : []),
    ...(connectionString !== undefined && sasl !== undefined
      ? [{ key: 'sasl', message: 'follows from connectionString: remove one of the two' }]
      : []),
    ...(isOpen && sasl !== undefined && connectionString === undefined && sendsSecret(sasl)
      ? [{ key: 'sasl', message: INSECURE }]
      : []),
  ];
}

/** Returns the faults of open files and secrets. */
export function kafkaConnectionFaults(options: KafkaConnectionOptions): readonly OptionFault[] {
  const { brokers, ssl, sasl, connectionString, allowInsecure } = options;
  const faults: OptionFault[] = [
    ...(typeof ssl === 'object' ? tlsFaults(ssl, 'ssl') : []),
    ...(sasl === undefined ? [] : saslFaults(sasl)),
  ];
  if (connectionString === undefined) return faults;
  const text = connectionString.reveal();
  const message =
    connectionStringFault(text) ?? (brokers === undefined ? brokerFault(showBroker(hostBroker(text))) : null);
  if (message !== null) return [...faults, { key: 'connectionString', message }];
  const hosts = brokers ?? [hostBroker(text)];
  if (ssl === false && !allowInsecure && !hosts.every(({ host }) => isLoopback(host)))
    faults.push({ key: 'connectionString', message: INSECURE });
  return faults;
}

/** Returns whether the rules of Azure Event Hubs apply: by `preset`, a connection string, or Azure's host names. */
export function isEventHubs({ preset, connectionString, brokers = [] }: KafkaConnectionOptions): boolean {
  return preset === 'event-hubs' || connectionString !== undefined || brokers.some(({ host }) => isEventHubsHost(host));
}

/** The settings of a connection, including defaults. */
export interface ConnectionSettings {
  /** At least one, each with its port. */
  readonly brokers: readonly (Broker & { readonly port: number })[];
  readonly clientId: string;
  /** For one request, from writing it to its answer. */
  readonly timeoutMs: number;
  /** The bridge closes an idle connection after this time, before the broker does: 9 min, or 3 min with Event Hubs. */
  readonly idleMs: number;
  /** The bridge reads the metadata of topics and brokers again after this time: 5 min, or 3 min with Event Hubs. */
  readonly metadataMaxAgeMs: number;
  /** Maximum size of a request, exclusive. */
  readonly maxRequestBytes: number;
  /** If true, topics cannot be created, changed or configured through Kafka. */
  readonly isEventHubs: boolean;
  /** Null: no TLS. */
  readonly tls: TlsOptions | null;
}

/** Returns the settings. @param options with open secrets, without faults */
export function connectionSettings(options: KafkaConnectionOptions): ConnectionSettings {
  const { brokers, clientId, timeout, ssl, connectionString } = options;
  const isHubs = isEventHubs(options);
  const named = brokers ?? (connectionString === undefined ? [] : [hostBroker(connectionString.reveal())]);
  return {
    brokers: named.map(withPort),
    clientId,
    timeoutMs: timeout ?? (isHubs ? 60_000 : 10_000),
    idleMs: isHubs ? 180_000 : 540_000,
    metadataMaxAgeMs: isHubs ? 180_000 : 300_000,
    maxRequestBytes: isHubs ? 1_046_528 : 1_048_576,
    isEventHubs: isHubs,
    tls: usesTls(options) ? (typeof ssl === 'object' ? ssl : {}) : null,
  };
}

function usesTls(options: KafkaConnectionOptions): boolean {
  return typeof options.ssl === 'object' || (options.ssl ?? isEventHubs(options));
}

function hostBroker(connectionString: string): Broker {
  return { host: connectionStringHost(connectionString), port: null };
}

/** Adds the port of Event Hubs, the only service that needs no port in the configuration. */
function withPort({ host, port }: Broker): Broker & { readonly port: number } {
  return { host, port: port ?? EVENT_HUBS_PORT };
}
