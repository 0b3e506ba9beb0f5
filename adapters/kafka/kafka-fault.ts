// Errors of kafkajs, TLS and DNS → BridgeErrors with scope and remedy.
import { BridgeError, type BridgeErrorDetails, codeOf, type ErrorCode, messageOf } from '../../src/errors.ts';
import { isUnreachableFault, unreachableWords } from '../../src/net/network-codes.ts';
import { type TlsWords, tlsAdvice } from '../../src/net/tls-advice.ts';
import { type KafkaOperation, meaningOf } from './protocol-meanings.ts';

export interface FaultContext {
  /** The sink or source: `sink stream`. */
  readonly who: string;
  readonly topic: string;
  /** The configured addresses, `host:port`. */
  readonly brokers: readonly string[];
  readonly operation: KafkaOperation;
  /** Addresses with an open connection. */
  readonly connected: readonly string[];
  /** Whether this has ever succeeded: the configuration is then hardly the cause. */
  readonly hasWorked: boolean;
  /** What the configuration uses at every broker; absent if unknown. */
  readonly uses?: { readonly tls: boolean; readonly login: boolean };
  /** The time limit of an answer, as written in the configuration. */
  readonly limit?: string;
}

const WORDS: TlsWords = {
  target: 'brokers (or in advertised.listeners there)',
  section: 'ssl',
  plain: 'that port is one without TLS',
};
/** Codes of connections that received another protocol. */
const FOREIGN_PROTOCOLS: Readonly<Record<string, readonly [code: ErrorCode, advice: string]>> = {
  BROKER_SPEAKS_TLS: [
    'BRIDGE_KAFKA_TLS',
    'speaks TLS at this port: set ssl: true, or configure a port without TLS in brokers',
  ],
  NOT_A_BROKER: [
    'BRIDGE_KAFKA_MISCONFIGURED',
    "does not speak Kafka's protocol at this port: correct the host and port in brokers",
  ],
};
/** kafkajs wraps errors once or twice. */
const DEEPEST_CAUSE = 5;
/** Codes that are newer than kafkajs, which has their number only in its message. */
const YOUNGER_CODES: Readonly<Record<string, string>> = {
  89: 'THROTTLING_QUOTA_EXCEEDED',
  90: 'INVALID_PRODUCER_EPOCH',
};

interface Broken {
  readonly code?: string;
  /** `host:port`, if kafkajs reports it. */
  readonly address?: string;
  readonly isClosed: boolean;
}

/**
 * Returns the BridgeError for any error; a BridgeError unchanged. Ignores kafkajs's `retriable`, which is wrong too
 * often.
 */
export function kafkaFault(error: unknown, context: FaultContext): BridgeError {
  const chain = causesOf(error);
  const ours = chain.find((cause) => cause instanceof BridgeError);
  if (ours) return ours;
  const type = firstOf(chain, protocolType);
  if (type !== undefined) return protocolFault(type, error, context);
  const sasl = chain.find(({ name }) => name === 'KafkaJSSASLAuthenticationError');
  if (sasl) return saslFault(sasl, error, context);
  if (chain.some(({ name }) => name === 'KafkaJSServerDoesNotSupportApiKey'))
    return protocolFault('UNSUPPORTED_VERSION', error, context);
  if (chain.some(isTimeout)) return kafkaTimeoutFault(context);
  if (chain.some(({ name }) => name === 'KafkaJSBrokerNotFound'))
    return protocolFault('LEADER_NOT_AVAILABLE', error, context);
  const broken = firstOf(chain, connectionOf);
  return broken === undefined ? unknownFault(error, context) : connectionFault(broken, error, context);
}

/** Returns the fault of brokers that did not answer in time. */
export function kafkaTimeoutFault({ who, topic, operation, connected, limit }: FaultContext): BridgeError {
  const within = limit === undefined ? 'in time' : `within ${limit}`;
  const message = `${who}: no broker answered ${within}, topic ${topic}: check the brokers and the network, or raise timeout`;
  const scope = operation === 'produce' && connected.length > 0 ? 'delivery' : 'sink';
  return new BridgeError('BRIDGE_KAFKA_TIMEOUT', message, { disposition: 'retry', scope, status: 'timeout' });
}

function protocolFault(type: string, error: unknown, { who, ...subject }: FaultContext): BridgeError {
  const { code, advice, ...details } = meaningOf(type, subject);
  return fault(code, `${who}: ${advice} (${type})`, { ...details, status: type }, error);
}

/** Returns the fault of a failed login. The broker's message about credentials contains no secret. */
function saslFault(sasl: Error, error: unknown, { who }: FaultContext): BridgeError {
  const isMechanism = /mechanism is not supported/i.test(sasl.message);
  const { code, advice, ...details } = meaningOf(
    isMechanism ? 'UNSUPPORTED_SASL_MECHANISM' : 'SASL_AUTHENTICATION_FAILED',
    {
      topic: '',
      operation: 'connect',
    },
  );
  const status = isMechanism ? 'UNSUPPORTED_SASL_MECHANISM' : 'SASL_AUTHENTICATION_FAILED';
  return fault(code, `${who}: ${advice} (${sasl.message})`, { ...details, status }, error);
}

function connectionFault({ code, address, isClosed }: Broken, error: unknown, context: FaultContext): BridgeError {
  const { who, brokers, connected, hasWorked, operation } = context;
  const broker = `${who}: broker ${address ?? brokers.join(', ')}`;
  const advice = code === undefined ? undefined : tlsAdvice(code, WORDS);
  const [name, remedy] = (code === undefined ? undefined : FOREIGN_PROTOCOLS[code]) ?? [];
  if (name !== undefined)
    return fault(
      name,
      `${broker} ${remedy}`,
      { disposition: 'misconfigured', scope: 'sink', status: code ?? '' },
      error,
    );
  if (code !== undefined && advice !== undefined)
    return fault('BRIDGE_KAFKA_TLS', `${broker} ${advice} (${code})`, { scope: 'sink', status: code }, error);
  const others = connected.filter((other) => other !== address);
  // While other brokers are connected, an unreachable broker affects only its own partitions.
  const isOnlyOne = others.length > 0 && (hasWorked || (address !== undefined && brokers.includes(address)));
  const scope = isOnlyOne ? 'delivery' : 'sink';
  const isUnreachable = code === undefined ? !isClosed : isUnreachableFault(code);
  if (isUnreachable && address !== undefined && !brokers.includes(address) && others.length > 0) {
    const message =
      `${who}: ${others.join(', ')} answered and named ${address} for a partition of the topic (advertised.listeners), ` +
      `but the bridge cannot reach it (${code ?? 'no answer'}): set advertised.listeners to an address that clients can reach, or start that broker`;
    return fault('BRIDGE_KAFKA_ADVERTISED', message, { scope, status: code ?? 'timeout' }, error);
  }
  if (isUnreachable) {
    const [host] = address?.split(':') ?? [];
    const advice = 'check that it is running, its name and the firewall';
    const why =
      code === undefined ? `cannot be reached (no answer): ${advice}` : unreachableWords(code, error, advice, host);
    const message = `${broker} ${why}`;
    return fault('BRIDGE_KAFKA_UNREACHABLE', message, { scope, status: code ?? 'timeout' }, error);
  }
  const reason = code ?? 'connection closed';
  const isLinked = operation === 'produce' || operation === 'consume';
  const hint = isLinked
    ? 'the bridge retries; if this lasts, check the broker'
    : `${missingSettings(context)}; the broker's log has the reason`;
  return fault(
    'BRIDGE_KAFKA_BROKEN',
    `${broker} closed the connection without an answer (${reason}): ${hint}`,
    { scope: isLinked ? 'delivery' : 'sink', status: reason },
    error,
  );
}

/** Returns the settings that may be missing if a broker closes every connection. */
function missingSettings({ uses }: FaultContext): string {
  if (uses === undefined) return 'this port may need TLS (ssl: true), no TLS, or a login (sasl)';
  const tls = uses.tls
    ? 'this port may not use TLS (configure a port with TLS in brokers, or remove ssl)'
    : 'this port may need TLS (ssl: true)';
  return uses.login ? tls : `${tls}, or it may need a login (sasl)`;
}

/** Returns the fault of an unknown error. Its text may contain anything, so only its name is shown. */
function unknownFault(error: unknown, { who, operation }: FaultContext): BridgeError {
  const kind = error instanceof Error ? error.name : typeof error;
  const scope = operation === 'produce' ? 'delivery' : 'sink';
  return new BridgeError(
    'BRIDGE_KAFKA_BROKEN',
    `${who}: the Kafka client failed (${kind}): the bridge retries; if this lasts, please report it`,
    {
      disposition: 'retry',
      scope,
      status: kind,
    },
  );
}

function fault(
  code: ErrorCode,
  message: string,
  {
    disposition = 'retry',
    scope,
    status,
  }: Required<Pick<BridgeErrorDetails, 'scope' | 'status'>> & Pick<BridgeErrorDetails, 'disposition'>,
  error: unknown,
): BridgeError {
  // Without data that must not be logged: Node attaches whole certificates to its errors.
  const cause = new Error(messageOf(causesOf(error).at(-1)));
  return new BridgeError(code, message, { disposition, scope, status, cause });
}

/** Returns the error and its causes, the outermost first. Of an AggregateError, follows the first error. */
function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (
    let next = error;
    next instanceof Error && chain.length < DEEPEST_CAUSE && !chain.includes(next);
    next = causeOf(next)
  )
    chain.push(next);
  return chain;
}

function causeOf(error: Error): unknown {
  return 'errors' in error && Array.isArray(error.errors) ? error.errors[0] : error.cause;
}

function firstOf<T>(chain: readonly Error[], read: (error: Error) => T | undefined): T | undefined {
  for (const error of chain) {
    const found = read(error);
    if (found !== undefined) return found;
  }
  return undefined;
}

function protocolType(error: Error): string | undefined {
  if (!('type' in error) || typeof error.type !== 'string') return undefined;
  if (error.type !== 'KAFKAJS_UNKNOWN_ERROR_CODE') return error.type;
  const [number = ''] = /\d+/.exec(error.message) ?? [];
  return YOUNGER_CODES[number] ?? `error ${number}`;
}

/** Returns whether this request, or an earlier one on the same connection, timed out. */
function isTimeout({ name, message }: Error): boolean {
  return (
    name === 'KafkaJSRequestTimeoutError' || name === 'KafkaJSLockTimeout' || message.startsWith('Connection given up')
  );
}

function connectionOf(error: Error): Broken | undefined {
  const isClosed = error.name === 'KafkaJSConnectionClosedError';
  if (!isClosed && error.name !== 'KafkaJSConnectionError') return undefined;
  const code = codeOf(error);
  const address = 'broker' in error && typeof error.broker === 'string' ? error.broker : undefined;
  return { isClosed, ...(code !== undefined && { code }), ...(address !== undefined && { address }) };
}
