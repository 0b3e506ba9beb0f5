// Errors of the SDK, TLS, DNS and sockets → BridgeErrors, by the table below.
import { BridgeError, type BridgeErrorDetails, codeOf, type ErrorCode, messageOf } from '../../src/errors.ts';
import { isUnreachableFault, nameAdvice } from '../../src/net/network-codes.ts';

/** The names of the parts in messages. */
export interface FaultPlace {
  /** `sink bus: my-ns.servicebus.windows.net`, with only the host. */
  readonly who: string;
  /** `queue maintenance` */
  readonly entity: string;
  readonly operation: 'send' | 'receive';
  readonly role: string;
}

interface Row extends Pick<BridgeErrorDetails, 'disposition' | 'scope' | 'retryAfterMs'> {
  readonly code: ErrorCode;
  /** @param text the service's text, to distinguish the causes of one code */
  readonly what: (place: FaultPlace, text: string) => string;
}

/** The pause of a throttled client, unless Service Bus names another. */
const BUSY_MS = 10_000;
const PAUSE = /\bwait (\d{1,4}) seconds\b/;
const BAD_TOKEN = /^(Invalid|Expired|Malformed)[A-Za-z]+:|\btoken (has|is)\b/i;
const MISCONFIGURED = { disposition: 'misconfigured', scope: 'sink' } as const;
const RETRY_DELIVERY = { disposition: 'retry', scope: 'delivery' } as const;
const RETRY_SINK = { disposition: 'retry', scope: 'sink' } as const;

const UNAVAILABLE: Row = {
  code: 'BRIDGE_SERVICE_BUS_UNAVAILABLE',
  ...RETRY_DELIVERY,
  what: ({ operation, entity }) =>
    `${operation === 'send' ? 'did not accept the message' : `delivers no messages of the ${entity}`}: the bridge retries; if this lasts, check the health of the namespace`,
};
const BUSY: Row = {
  code: 'BRIDGE_SERVICE_BUS_BUSY',
  ...RETRY_SINK,
  retryAfterMs: BUSY_MS,
  what: () =>
    'is busy and asks for a pause: the bridge retries; if this lasts, check what else uses the namespace, or add units',
};
const TIMEOUT: Row = {
  code: 'BRIDGE_SERVICE_BUS_TIMEOUT',
  ...RETRY_DELIVERY,
  what: () => 'gave no answer in time: the bridge retries',
};
const NO_ENTITY: Row = {
  code: 'BRIDGE_SERVICE_BUS_ENTITY',
  ...MISCONFIGURED,
  what: ({ entity }) => `has no ${entity}: correct the name, or create it`,
};

/** Rows by the SDK's codes (ServiceBusErrorCode). */
const CODES: Readonly<Record<string, Row>> = {
  MessagingEntityNotFound: NO_ENTITY,
  MessagingEntityDisabled: {
    code: 'BRIDGE_SERVICE_BUS_ENTITY',
    ...MISCONFIGURED,
    what: ({ entity }) => `has disabled the ${entity}: enable it`,
  },
  UnauthorizedAccess: {
    code: 'BRIDGE_SERVICE_BUS_UNAUTHORIZED',
    ...MISCONFIGURED,
    what: ({ entity, role }, text) =>
      BAD_TOKEN.test(text)
        ? 'does not accept the token: check the key or signature of the connectionString and its expiry, or tenant and identity; also check the clock of this machine'
        : `does not allow this operation on the ${entity}: assign the identity the role "${role}" on this scope (it can take minutes to take effect), or grant the key that right`,
  },
  QuotaExceeded: {
    code: 'BRIDGE_SERVICE_BUS_QUOTA',
    ...MISCONFIGURED,
    what: ({ entity }) =>
      `has no space left for the ${entity}: check that consumers read it and its dead letters, or raise its size`,
  },
  MessageSizeExceeded: {
    code: 'BRIDGE_SERVICE_BUS_TOO_LARGE',
    disposition: 'refused',
    scope: 'delivery',
    what: ({ entity }) => `does not accept so large a message for the ${entity}: it becomes a dead letter`,
  },
  ServiceBusy: BUSY,
  ServiceTimeout: TIMEOUT,
};

/** Rows by the codes of @azure/core-amqp, with which the SDK prefixes the message of a GeneralError. */
const GENERAL: readonly (readonly [prefix: RegExp, row: Row])[] = [
  [/^ResourceDeletedError: /, NO_ENTITY],
  [
    /^InvalidOperationError: [\s\S]*SessionId/i,
    {
      code: 'BRIDGE_SERVICE_BUS_ENTITY',
      ...MISCONFIGURED,
      what: ({ entity }) => `requires a session for each message to the ${entity}: set sessions: true`,
    },
  ],
];

const CLOSED: Row = {
  code: 'BRIDGE_SERVICE_BUS_BROKEN',
  ...RETRY_SINK,
  what: () => 'closed the connection without an answer: the bridge retries',
};

/** Codes of OpenSSL's verification and of node:tls. */
const TLS: readonly (readonly [code: RegExp, advice: string])[] = [
  [
    /^CERT_HAS_EXPIRED$/,
    'shows a certificate that has expired: renew it there; if it is new, set the clock of this machine',
  ],
  [/^CERT_NOT_YET_VALID$/, 'shows a certificate that is not valid yet: set the clock of this machine'],
  [
    /^(ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH$)/,
    'shows a certificate for another name: correct the host, or check what answers instead',
  ],
  [
    /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED$|CERT_SIGNATURE_FAILURE$|INVALID_CA$)/,
    'shows a certificate of an authority that this machine does not trust: if a proxy intercepts TLS, set tls.ca to its authority',
  ],
  [
    /^(EPROTO$|ERR_SSL_|ERR_TLS_|CERT_|INVALID_PURPOSE$|CRL_|PATH_LENGTH_)/,
    'does not speak valid TLS: check host and port',
  ],
];

/** Returns the BridgeError for any error; a BridgeError unchanged. */
export function serviceBusFault(error: unknown, place: FaultPlace): BridgeError {
  const last = lastOf(error);
  if (last instanceof BridgeError) return last;
  const code = codeOf(last);
  const row = code === undefined ? undefined : CODES[code];
  if (row) return fault(row, last, place, code);
  if (!isOfTheSdk(last)) return connectionFault(last, place);
  const text = messageOf(last);
  const system = /\b(E[A-Z]{3}[A-Z_]*)\b/.exec(text)?.[1];
  if (system !== undefined && isUnreachableFault(system)) return unreachable(system, last, place);
  const general = GENERAL.find(([prefix]) => prefix.test(text))?.[1];
  return fault(general ?? UNAVAILABLE, last, place, /^([A-Za-z]+Error): /.exec(text)?.[1] ?? code);
}

/** Returns the BridgeError of a socket, TLS, DNS or proxy error. */
export function connectionFault(error: unknown, place: FaultPlace): BridgeError {
  const last = lastOf(error);
  if (last instanceof BridgeError) return last;
  // If several addresses fail, Node throws one AggregateError with the code of the first.
  const code = codeOf(error) ?? codeOf(last);
  const tls = code && TLS.find(([pattern]) => pattern.test(code))?.[1];
  if (tls) return broken('BRIDGE_SERVICE_BUS_TLS', `${place.who} ${tls} (${code})`, code);
  if (code && isUnreachableFault(code)) return unreachable(code, last, place);
  return fault(CLOSED, last, place, code);
}

/** Returns the fault of a passed time limit. @param limit as written in the configuration */
export function busTimeoutFault({ who, entity }: FaultPlace, limit: string): BridgeError {
  const message = `${who} gave no answer for the ${entity} within ${limit}: the bridge retries; if this lasts, check the network, or raise timeout`;
  return new BridgeError('BRIDGE_SERVICE_BUS_TIMEOUT', message, { ...RETRY_DELIVERY, status: 'timeout' });
}

/** Returns the fault of a message that exceeds the link's limit. Nothing was sent. */
export function tooLargeFault({ who, entity }: FaultPlace, bytes: number, limit: number): BridgeError {
  const message = `${who} accepts messages of ${limit} bytes for the ${entity}, and this one has at least ${bytes}: it becomes a dead letter`;
  return new BridgeError('BRIDGE_SERVICE_BUS_TOO_LARGE', message, {
    disposition: 'refused',
    status: 'MessageSizeExceeded',
  });
}

/** Returns the error of the last attempt. */
function lastOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? lastOf(error.errors.at(-1)) : error;
}

function isOfTheSdk(error: unknown): boolean {
  return error instanceof Error && (error.name === 'ServiceBusError' || error.name === 'MessagingError');
}

function unreachable(code: string, error: unknown, { who }: FaultPlace): BridgeError {
  const what =
    nameAdvice(code, error) ??
    `check firewalls and, for a private endpoint, the network; if only port 443 is open, set transport: websocket (${code})`;
  return broken('BRIDGE_SERVICE_BUS_UNREACHABLE', `${who} cannot be reached: ${what}`, code);
}

function broken(code: ErrorCode, message: string, status: string): BridgeError {
  return new BridgeError(code, message, { ...RETRY_SINK, status });
}

/**
 * Returns the BridgeError of a row. The service's text may contain anything, so only its code and tracking id are
 * shown.
 */
function fault(row: Row, error: unknown, place: FaultPlace, status: string | undefined): BridgeError {
  const words = messageOf(error);
  const tracking = /\bTrackingId:([0-9A-Za-z_-]{8,80})/.exec(words)?.[1];
  const text = [status, tracking && `TrackingId ${tracking}`]
    .filter((part) => part !== undefined && part !== '')
    .join(', ');
  const pauseSeconds = row.retryAfterMs === undefined ? undefined : PAUSE.exec(words)?.[1];
  const retryAfterMs = pauseSeconds === undefined ? row.retryAfterMs : Number(pauseSeconds) * 1000;
  const message = `${place.who} ${row.what(place, words)}${text === '' ? '' : ` (${text})`}`;
  return new BridgeError(row.code, message, { disposition: row.disposition, scope: row.scope, retryAfterMs, status });
}
