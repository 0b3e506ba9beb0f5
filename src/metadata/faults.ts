// Failures of the metadata service → a BridgeError with advice, and a label for metrics.

import { BridgeError, type BridgeErrorDetails, codeOf } from '../errors.ts';
import { parseRetryAfter } from '../formats/dates.ts';
import type { TransportAnswer } from './transport.ts';

/** Statuses that repeating does not mend: something is set up wrong. */
export const MISCONFIGURED_STATUSES: ReadonlySet<number | string | undefined> = new Set([400, 401, 403, 405]);

const LABELLED = new Set<number | string>([400, 401, 403, 404, 405, 410, 429]);
const NOT_THERE = new Set<unknown>(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);
const CUT = new Set<unknown>(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);

const ADVICE: Readonly<Record<number, string>> = {
  400: 'it did not accept the api-version or the Metadata header: check metadata.apiVersion, and that nothing in between strips headers',
  401: 'it denies access: check which firewall, network policy or metadata security setting of the VM keeps this process away',
  403: 'it denies access: check which firewall, network policy or metadata security setting of the VM keeps this process away',
  404: 'it does not know the route or the api-version, or is being updated: check metadata.endpoint and metadata.apiVersion if this lasts',
  405: 'what answers there is not the metadata service: check metadata.endpoint',
  410: 'it is being updated, which takes a minute or a few',
  429: 'more than 5 requests a second were made by all programs of this VM together: look for the others, or raise metadata.pollInterval',
};

const NOT_STARTED = 'it knows no such event, or did not accept the request: see which events it lists now';

/** A status other than 200 as an error; `status` and, where the answer holds one, `retryAfterMs` are set. */
export function statusError(answer: TransportAnswer, url: string, wallMs: number, method: 'GET' | 'POST' = 'GET'): BridgeError {
  const { status, headers } = answer;
  const retryAfterMs = parseRetryAfter(headers['retry-after'], wallMs);
  const via =
    headers['via'] === undefined ? '' : '; the answer came through a proxy (it has a Via header): let requests to the service go past it';
  const html = headers['content-type']?.includes('html') ? '; it sent an HTML page, so a proxy may have answered in its place' : '';
  const details: BridgeErrorDetails = retryAfterMs === null ? { status } : { status, retryAfterMs };
  return new BridgeError(
    'BRIDGE_METADATA_STATUS',
    `the metadata service at ${originOf(url)} answered ${status}: ${method === 'POST' && status === 400 ? NOT_STARTED : adviceFor(status)}${html}${via}`,
    details,
  );
}

function adviceFor(status: number): string {
  if (isRedirect(status))
    return 'it never redirects, so something else answers in its place (a proxy, a captive portal); redirects are not followed';
  return (
    ADVICE[status] ?? (status >= 500 ? 'it has trouble of its own; asked again' : 'an answer that it is not known to give; asked again')
  );
}

/** An error of the network as a BridgeError; one that is a BridgeError already passes unchanged. */
export function networkError(error: unknown, url: string): BridgeError {
  if (error instanceof BridgeError) return error;
  const code = codeOf(error) ?? 'unknown error';
  const origin = originOf(url);
  if (code === 'HPE_HEADER_OVERFLOW') return notTheService(url, 'has over 16 KiB of headers', error);
  if (code.startsWith('HPE_')) return notTheService(url, `is no HTTP (${code})`, error);
  const what = CUT.has(code)
    ? `the connection to the metadata service at ${origin} was cut`
    : `cannot reach the metadata service at ${origin}`;
  return new BridgeError('BRIDGE_METADATA_UNREACHABLE', `${what} (${code}): ${routeAdvice(origin)}`, { cause: error, status: code });
}

/** An answer that the metadata service cannot have given; `why` goes on from "the answer". */
export function notTheService(url: string, why: string, cause?: unknown): BridgeError {
  return new BridgeError('BRIDGE_METADATA_INVALID', `the answer of ${originOf(url)} ${why}: check metadata.endpoint`, { cause });
}

/** Whether the service may have read the request that got this instead of an answer: not where it answered, and not where nothing was reached. */
export function mayHaveArrived({ code, status }: BridgeError): boolean {
  if (typeof status === 'number' || code === 'BRIDGE_METADATA_CLOSED') return false;
  return code !== 'BRIDGE_METADATA_UNREACHABLE' || CUT.has(status);
}

function routeAdvice(origin: string): string {
  if (origin !== 'http://169.254.169.254') return 'check metadata.endpoint, and that it listens there';
  return 'check that this is an Azure VM with a route to 169.254.169.254, that requests leave by the primary network interface, and that a container uses host networking';
}

/** Bounded: one of 15 words. */
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

/** 304 is none: it points nowhere. */
function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399 && status !== 304;
}

/** Never the whole URL: it may hold a user and a password. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'the configured endpoint';
}
