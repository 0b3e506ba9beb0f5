// Connection options → an unconnected kafkajs client with the bridge's settings, sockets and log.
import type { ISocketFactory, Kafka, KafkaConfig } from 'kafkajs';
import type { Logger } from 'pino';
import { TlsFiles } from '../../../src/net/tls-files.ts';
import type { Deps } from '../../../src/time/clock.ts';
import {
  type ConnectionSettings,
  connectionSettings,
  type KafkaConnectionOptions,
} from '../options/connection-options.ts';
import { sendsSecret } from '../options/sasl-options.ts';
import { brokerSockets } from './broker-sockets.ts';
import { clientLogger, levelFor } from './client-logger.ts';

/** Connecting with TLS takes longer only if the broker does not answer. */
const LONGEST_CONNECT_MS = 10_000;
/** For callers that wait for another connection to the same broker; long enough to get a token. */
const LEAST_AUTHENTICATION_MS = 30_000;

interface KafkaClientDeps extends Pick<Deps, 'wallMs' | 'elapsedMs' | 'after' | 'random'> {
  readonly logger: Logger;
}

/** Wraps a socket factory, to track every connection of a client. */
export type WrapSockets = (factory: ISocketFactory) => ISocketFactory;

/**
 * Creates clients that share tokens and the files of `ssl`; each starts with another broker.
 * Loads kafkajs at the first one. The clients do not retry (`retries: 0`), and have no timers while idle.
 * @param options with open secrets, without faults
 * @param place `sinks.NAME` or `approvals.sources.NAME`
 */
export function kafkaClients(
  options: KafkaConnectionOptions,
  deps: KafkaClientDeps,
  place: string,
): (wrapSockets?: WrapSockets) => Promise<Kafka> {
  let shared: Promise<Pick<KafkaConfig, 'sasl'> & { readonly sockets: ISocketFactory }> | null = null;
  let made = 0;
  const logCreator = clientLogger(deps.logger, deps);
  const share = async () => {
    const { authentication } = await import('./authentication.ts');
    const settings = connectionSettings(options);
    const sasl = authentication(options, settings, deps, place);
    return { ...(sasl !== undefined && { sasl }), sockets: socketsOf(options, settings, deps, place) };
  };
  return async (wrapSockets = (factory) => factory) => {
    const [{ Kafka }, { repaired, spelledForKafkajs }] = await Promise.all([
      import('./kafkajs.ts'),
      import('./repairs/kafkajs-repairs.ts'),
    ]);
    shared ??= share();
    const { sockets, ...sasl } = await shared;
    const settings = connectionSettings(options);
    // A broker that accepts connections and never answers uses up the time limit, so the next client starts with
    // another.
    const first = made++ % settings.brokers.length;
    const brokers = [...settings.brokers.slice(first), ...settings.brokers.slice(0, first)];
    return new Kafka({
      clientId: settings.clientId,
      brokers: brokers.map(spelledForKafkajs),
      // The socket factory configures TLS; this only enables it.
      ...(settings.tls !== null && { ssl: true }),
      ...sasl,
      connectionTimeout: Math.min(settings.timeoutMs, LONGEST_CONNECT_MS),
      authenticationTimeout: Math.max(settings.timeoutMs, LEAST_AUTHENTICATION_MS),
      requestTimeout: settings.timeoutMs,
      enforceRequestTimeout: true,
      retry: { retries: 0 },
      logLevel: levelFor(deps.logger),
      logCreator,
      socketFactory: repaired(wrapSockets(sockets), deps),
    });
  };
}

function socketsOf(
  { sasl, connectionString, allowInsecure }: KafkaConnectionOptions,
  { tls }: ConnectionSettings,
  deps: KafkaClientDeps,
  place: string,
) {
  const files =
    tls === null ? null : new TlsFiles(tls, { owner: place, section: 'ssl', code: 'BRIDGE_KAFKA_TLS_FILES' }, deps);
  const needsTls = !allowInsecure && (connectionString !== undefined || (sasl !== undefined && sendsSecret(sasl)));
  return brokerSockets({
    place,
    tls: tls === null ? null : { context: () => files?.context() ?? null, serverName: tls.serverName ?? null },
    needsTls,
  });
}
