// A failed request to the metadata service → a BridgeError with advice, and a label for metrics.

import { BridgeError, type BridgeErrorDetails, codeOf } from '../errors.ts';
import { parseRetryAfter } from '../formats/dates.ts';
import { nameAdvice } from '../net/network-codes.ts';
import type { TransportAnswer } from './transport.ts';

/** Statuses that a retry does not resolve: the configuration or the network is wrong. */
export const MISCONFIGURED_STATUSES: ReadonlySet<number | string | undefined> = new Set([400, 401, 403, 405]);

const LABELLED = new Set<number | string>([400, 401, 403, 404, 405, 410, 429]);
const NOT_THERE = new Set<unknown>(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
const CUT = new Set<unknown>(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

const ADVICE: Readonly<Record<number, string>> = {
  400: 'it rejected the api-version or the Metadata header: check metadata.apiVersion, and that nothing on the way removes headers',
  401: 'it denied access: check the firewall, network policies and the metadata security setting of the VM',
  403: 'it denied access: check the firewall, network policies and the metadata security setting of the VM',
  404: 'it does not know the route or the api-version, or is being updated: if this continues, check metadata.endpoint and metadata.apiVersion',
  405: 'another service answers at this address: check metadata.endpoint',
  410: 'it is being updated, which takes a few minutes',
  429: 'all programs of this VM together sent more than 5 requests a second: find the other programs, or raise metadata.pollInterval',
};

const NOT_STARTED = 'it does not list the event, or rejected the request: check which events it lists now';

/** Returns an error for a status other than 200, with `status` and, if the answer has a Retry-After, `retryAfterMs`. */
export function statusError(
  answer: TransportAnswer,
  url: string,
  wallMs: number,
  method: 'GET' | 'POST' = 'GET',
): BridgeError {
  const { status, headers } = answer;
  const retryAfterMs = parseRetryAfter(headers['retry-after'], wallMs);
  const via =
    headers['via'] === undefined
      ? ''
      : '; the answer came through a proxy (it has a Via header): exclude the service from the proxy';
  const html = headers['content-type']?.includes('html')
    ? '; it sent an HTML page, so a proxy may have answered instead'
    : '';
  const details: BridgeErrorDetails = retryAfterMs === null ? { status } : { status, retryAfterMs };
  return new BridgeError(
    'BRIDGE_METADATA_STATUS',
    `the metadata service at ${originOf(url)} answered ${status}: ${method === 'POST' && status === 400 ? NOT_STARTED : adviceFor(status)}${html}${via}`,
    details,
  );
}

function adviceFor(status: number): string {
  if (isRedirect(status))
    return 'the service never redirects, so something else answered (a proxy, a captive portal); redirects are not followed';
  return (
    ADVICE[status] ??
    (status >= 500 ? 'a fault of the service; the bridge retries' : 'an unexpected answer; the bridge retries')
  );
}

/** Returns an error of the network as a BridgeError; a BridgeError passes unchanged. */
export function networkError(error: unknown, url: string): BridgeError {
  if (error instanceof BridgeError) return error;
  const code = codeOf(error) ?? 'unknown error';
  const origin = originOf(url);
  if (code === 'HPE_HEADER_OVERFLOW') return notTheService(url, 'has more than 16 KiB of headers', error);
  if (code.startsWith('HPE_')) return notTheService(url, `is not HTTP (${code})`, error);
  const what = CUT.has(code)
    ? `the connection to the metadata service at ${origin} was closed early`
    : `cannot reach the metadata service at ${origin}`;
  const unresolved = nameAdvice(code, error);
  const why = unresolved === undefined ? ` (${code}): ${routeAdvice(origin)}` : `: ${unresolved}, or metadata.endpoint`;
  return new BridgeError('BRIDGE_METADATA_UNREACHABLE', `${what}${why}`, {
    cause: error,
    status: code,
  });
}

/** Returns an error for an answer that cannot come from the metadata service; `why` continues "the answer of …". */
export function notTheService(url: string, why: string, cause?: unknown): BridgeError {
  return new BridgeError('BRIDGE_METADATA_INVALID', `the answer of ${originOf(url)} ${why}: check metadata.endpoint`, {
    cause,
  });
}

/** Whether the service may have read the failed request: false if it answered, or if no connection was made. */
export function mayHaveArrived({ code, status }: BridgeError): boolean {
  if (typeof status === 'number' || code === 'BRIDGE_METADATA_CLOSED') return false;
  return code !== 'BRIDGE_METADATA_UNREACHABLE' || CUT.has(status);
}

function routeAdvice(origin: string): string {
  if (origin !== 'http://169.254.169.254') return 'check metadata.endpoint, and that the service listens there';
  return 'check that this is an Azure VM with a route to 169.254.169.254, that requests use the primary network interface, and that a container uses host networking';
}

/** Returns one of 15 labels. */
export function resultLabel(error: BridgeError): string {
  const { code, status } = error;
  if (code === 'BRIDGE_METADATA_TIMEOUT') return 'timeout';
  if (code === 'BRIDGE_METADATA_TOO_LARGE') return 'too_large';
  if (code === 'BRIDGE_METADATA_INVALID') return 'invalid';
  if (NOT_THERE.has(status)) return 'refused';
  if (CUT.has(status)) return 'reset';
  if (typeof status !== 'number') return 'other';
  if (LABELLED.has(status)) return `status_${status}`;
  if (status >= 500 && status <= 599) return 'status_5xx';
  return isRedirect(status) ? 'redirect' : 'other';
}

/** Excludes 304, which has no target. */
function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399 && status !== 304;
}

/** Returns only the origin: the URL may contain a password. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'the configured endpoint';
}
