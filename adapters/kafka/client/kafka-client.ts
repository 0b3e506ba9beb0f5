// Connection options → a kafkajs client with our settings, sockets, log and repairs; not connected.
import type { ISocketFactory, Kafka, KafkaConfig } from 'kafkajs';
import type { Logger } from 'pino';
import { TlsFiles } from '../../../src/net/tls-files.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { type ConnectionSettings, connectionSettings, type KafkaConnectionOptions } from '../options/connection-options.ts';
import { sendsSecret } from '../options/sasl-options.ts';
import { brokerSockets } from './broker-sockets.ts';
import { clientLogger, levelFor } from './client-logger.ts';

/** Connecting with TLS takes longer only where the broker does not answer. */
const LONGEST_CONNECT_MS = 10_000;
/** For callers that wait while another one connects to the same broker; long enough to get a token too. */
const LEAST_AUTHENTICATION_MS = 30_000;

export interface KafkaClientDeps extends Pick<Deps, 'wallMs' | 'elapsedMs' | 'after' | 'random'> {
  readonly logger: Logger;
}

/** For who must be able to end every connection of one client. */
export type WrapSockets = (factory: ISocketFactory) => ISocketFactory;

/**
 * Makes clients that share what is kept over connections: tokens, and what was read of the files of `ssl`; each begins with another broker.
 * Loads kafkajs at the first one.
 * What they make does not try again by itself (`retries: 0`), and sets no timers while nothing is asked of it.
 * @param options whose secrets are open, without faults
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
    // One that takes connections and says nothing uses up all the time there is, so the next client does not begin with it again.
    const first = made++ % settings.brokers.length;
    const brokers = [...settings.brokers.slice(first), ...settings.brokers.slice(0, first)];
    return new Kafka({
      clientId: settings.clientId,
      brokers: brokers.map(spelledForKafkajs),
      // What TLS is made from is the socket factory's; this only says that it is used.
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

/** One of them: keep it, or make several by `kafkaClients`. */
export async function kafkaClient(
  options: KafkaConnectionOptions,
  deps: KafkaClientDeps,
  place: string,
  wrapSockets?: WrapSockets,
): Promise<Kafka> {
  return await kafkaClients(options, deps, place)(wrapSockets);
}

function socketsOf(
  { sasl, connectionString, allowInsecure }: KafkaConnectionOptions,
  { tls }: ConnectionSettings,
  deps: KafkaClientDeps,
  place: string,
) {
  const files = tls === null ? null : new TlsFiles(tls, { owner: place, section: 'ssl', code: 'BRIDGE_KAFKA_TLS_FILES' }, deps);
  const needsTls = !allowInsecure && (connectionString !== undefined || (sasl !== undefined && sendsSecret(sasl)));
  return brokerSockets({
    place,
    tls: tls === null ? null : { context: () => files?.context() ?? null, serverName: tls.serverName ?? null },
    needsTls,
  });
}
