// A sink, its target and what failed → a BridgeError with code, reason and remedy.
import { isIP } from 'node:net';
import {
  BridgeError,
  type BridgeErrorDetails,
  codeOf,
  type ErrorCode,
  messageOf,
  withoutDetails,
} from '../../src/errors.ts';
import { parseRetryAfter } from '../../src/formats/dates.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import { isUnreachableFault, unreachableWords } from '../../src/net/network-codes.ts';
import type { AddressGuard, AddressVerdict } from '../../src/net/private-addresses.ts';
import { tlsAdvice } from '../../src/net/tls-advice.ts';

/**
 * The error code of each failure. All kinds share these codes, because the remedies are the same. Only messages and
 * `status` differ.
 */
export const SINK_CODES = {
  unreachable: 'BRIDGE_SINK_UNREACHABLE',
  broken: 'BRIDGE_SINK_BROKEN',
  timeout: 'BRIDGE_SINK_TIMEOUT',
  tls: 'BRIDGE_SINK_TLS',
  proxy: 'BRIDGE_SINK_PROXY',
  forbiddenAddress: 'BRIDGE_SINK_FORBIDDEN_ADDRESS',
  tlsFiles: 'BRIDGE_SINK_TLS_FILES',
  misconfigured: 'BRIDGE_SINK_MISCONFIGURED',
  unavailable: 'BRIDGE_SINK_UNAVAILABLE',
  refused: 'BRIDGE_SINK_REFUSED',
  gone: 'BRIDGE_SINK_GONE',
  tokenRefused: 'BRIDGE_SINK_TOKEN_REFUSED',
  tokenUnavailable: 'BRIDGE_SINK_TOKEN_UNAVAILABLE',
} as const satisfies Readonly<Record<string, ErrorCode>>;

export type HttpCodes = Readonly<Record<keyof typeof SINK_CODES, ErrorCode>>;

export interface StatusMeaning extends Pick<BridgeErrorDetails, 'disposition' | 'scope'> {
  readonly failure: 'gone' | 'misconfigured' | 'refused' | 'unavailable';
  /** The remedy, for people. */
  readonly advice: string;
}

/** The sink and target of a failure. */
export interface HttpPlace {
  /** `SINK_CODES`, or those of a kind with its own. */
  readonly codes: HttpCodes;
  readonly sink: string;
  /** The target, such as `https://example.com`: only scheme and host of its URL. */
  readonly target: string;
  /** The key that contains its URL. */
  readonly key: string;
  /** The keys that contain its credentials. */
  readonly credentials: string;
  /** The meaning of statuses for this kind of service, instead of the table. */
  readonly statuses?: Readonly<Record<number, StatusMeaning>> | undefined;
}

/** Returns the name of the place for messages. */
export function whoOf({ sink, target }: Pick<HttpPlace, 'sink' | 'target'>): string {
  return `sink ${sink}: ${target}`;
}

/** Returns the BridgeError for any error; a BridgeError unchanged. */
export function networkFault(error: unknown, place: HttpPlace): BridgeError {
  if (error instanceof BridgeError) return error;
  const { codes, key } = place;
  // If several addresses fail, Node throws one AggregateError with the code of the first.
  const code = codeOf(error);
  const reason = code ?? messageOf(error);
  const fault = (is: ErrorCode, scope: 'delivery' | 'sink', said: string) =>
    new BridgeError(is, `${whoOf(place)} ${said}`, {
      disposition: 'retry',
      scope,
      cause: withoutDetails(error),
      status: code,
    });
  const advice = code && tlsAdvice(code, { target: `the ${key}`, section: 'tls', plain: `the ${key} is http://` });
  if (advice) return fault(codes.tls, 'sink', `${advice} (${reason})`);
  if (code && isUnreachableFault(code))
    return fault(
      codes.unreachable,
      'sink',
      unreachableWords(code, error, 'check that it is running, its name and the firewall'),
    );
  const said = `closed the connection without an answer (${reason}): the bridge retries; if this lasts, check the receiver`;
  return fault(codes.broken, 'delivery', said);
}

/** Returns the fault of a passed time limit. @param limit as written in the configuration */
export function timeoutFault(place: HttpPlace, limit: string): BridgeError {
  const message = `${whoOf(place)} did not answer within ${limit}: check the receiver, or raise timeout`;
  return new BridgeError(place.codes.timeout, message, { disposition: 'retry', status: 'timeout' });
}

/** Returns whether a sink may send to an address. */
export type AddressJudge = (address: string) => AddressVerdict;

/** Returns a guard with errors of the place's code `forbiddenAddress`. */
export function targetGuard(place: HttpPlace, judge: AddressJudge): AddressGuard {
  return {
    isAllowed: (address) => judge(address) === 'allowed',
    forbidden: (address) => forbidden(place, judge, address),
  };
}

function forbidden({ codes, sink, target, key }: HttpPlace, judge: AddressJudge, address: string): BridgeError {
  const isNever = isIP(address) !== 0 && judge(address) === 'metadata';
  const advice = isNever
    ? `an address of the metadata service, which the bridge never sends events to: correct ${key}`
    : `not a public address: correct ${key}, or list the range in sinks.${sink}.allowPrivate if you trust it`;
  const message = `sink ${sink} does not connect to ${target}: it is ${address}, ${advice}`;
  return new BridgeError(codes.forbiddenAddress, message, { disposition: 'misconfigured', scope: 'sink' });
}

/** For a `StatusMeaning` that is retried slowly until the configuration is corrected. */
export const MISCONFIGURED_STATUS = { failure: 'misconfigured', disposition: 'misconfigured', scope: 'sink' } as const;

const UNAVAILABLE: StatusMeaning = {
  failure: 'unavailable',
  advice: 'the bridge retries; if this lasts, check the receiver',
  disposition: 'retry',
};

const REFUSED: StatusMeaning = {
  failure: 'refused',
  advice: 'it rejects this event, which becomes a dead letter',
  disposition: 'refused',
};

/**
 * Returns the meaning of 415 for a kind that can send another body.
 * @param change the keys to set, such as `compression: none`
 */
export function takesNoSuchBody(change: string): StatusMeaning {
  return { ...REFUSED, advice: `it does not accept this body: set ${change}; this event becomes a dead letter` };
}

const REDIRECT: StatusMeaning = {
  ...MISCONFIGURED_STATUS,
  advice: 'the bridge follows no redirects: configure the final URL',
};

const GONE: StatusMeaning = {
  failure: 'gone',
  advice: 'the endpoint is retired; the sink is paused until its configuration changes or `resume` is run',
  disposition: 'retired',
  scope: 'sink',
};

/** The head of an answer. */
export type Answer = Pick<HttpAnswer, 'status' | 'headers'>;

/** @param wallMs the current time, for a Retry-After date */
export function statusFault({ status, headers }: Answer, place: HttpPlace, wallMs: number): BridgeError | null {
  if (status >= 200 && status <= 299) return null;
  const { failure, advice, ...details } = meaningOf(status, place);
  const isTriedAgain = details.disposition === 'retry' || details.disposition === 'misconfigured';
  const retryAfterMs = isTriedAgain ? parseRetryAfter(headers['retry-after'], wallMs) : null;
  return new BridgeError(place.codes[failure], `${whoOf(place)} answered ${status}: ${advice}`, {
    ...details,
    status,
    retryAfterMs,
  });
}

function meaningOf(status: number, { key, credentials, statuses }: HttpPlace): StatusMeaning {
  const own = statuses?.[status];
  if (own !== undefined) return own;
  if (status >= 300 && status <= 399) return REDIRECT;
  if (status === 401 || status === 403)
    return { ...MISCONFIGURED_STATUS, advice: `check the credentials in ${credentials}` };
  if (status === 404) return { ...MISCONFIGURED_STATUS, advice: `check the path of the ${key}` };
  if (status === 410) return GONE;
  const isPassing = status < 400 || status > 499 || status === 408 || status === 425 || status === 429;
  return isPassing ? UNAVAILABLE : REFUSED;
}
