// What sockets, TLS and DNS throw → BridgeErrors that say which server it was and what to do.
import { BridgeError, type BridgeErrorDetails, codeOf, type ErrorCode, messageOf } from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import { isUnreachableFault } from '../../src/net/network-codes.ts';
import { type TlsWords, tlsAdvice } from '../../src/net/tls-advice.ts';
import type { SyslogServer } from './server-address.ts';

/** Who it happened to. */
export interface SyslogPlace {
  /** The sink's name. */
  readonly sink: string;
  readonly server: SyslogServer;
}

type Meaning = readonly [code: ErrorCode, advice: string, details: BridgeErrorDetails];

const WORDS: TlsWords = { target: 'server', section: 'tls', plain: 'that port is one for tcp://' };

const MISCONFIGURED: BridgeErrorDetails = { disposition: 'misconfigured', scope: 'sink' };
const RETRY: BridgeErrorDetails = { disposition: 'retry', scope: 'sink' };

/** What a path in the file system may say to who connects to it. */
const LOCAL: Readonly<Record<string, Meaning>> = {
  EPROTOTYPE: [
    'BRIDGE_SYSLOG_MISCONFIGURED',
    'is a datagram socket, as /dev/log is, where nobody can tell what was lost: let the syslog daemon listen on a stream socket, and name that',
    MISCONFIGURED,
  ],
  EACCES: ['BRIDGE_SYSLOG_MISCONFIGURED', 'may not be written to by this user: give it the right to write there', MISCONFIGURED],
  ENOENT: ['BRIDGE_SYSLOG_UNREACHABLE', 'is not there: start the syslog daemon, or correct the path', RETRY],
  ECONNREFUSED: ['BRIDGE_SYSLOG_UNREACHABLE', 'has nobody behind it: start the syslog daemon, or correct the path', RETRY],
};

/** A BridgeError passes unchanged. */
export function syslogFault(error: unknown, place: SyslogPlace): BridgeError {
  if (error instanceof BridgeError) return error;
  const code = codeOf(error);
  const [errorCode, advice, details] = meaningOf(code, place.server);
  const message = `${whoOf(place)} ${advice} (${code ?? messageOf(error)})`;
  return new BridgeError(errorCode, message, { ...details, cause: bare(error), ...(code === undefined ? {} : { status: code }) });
}

/** It did not take everything in time. */
export function timeoutFault(place: SyslogPlace, limitMs: number): BridgeError {
  const message = `${whoOf(place)} did not take the messages within ${formatDuration(limitMs)}: look at the server, or raise timeout`;
  return new BridgeError('BRIDGE_SYSLOG_TIMEOUT', message, { ...RETRY, status: 'timeout' });
}

/** It ended the connection. */
export function closedFault(place: SyslogPlace): BridgeError {
  const message = `${whoOf(place)} closed the connection: what it may not have read is sent again; if this lasts, look at its log, its limits and the framing that it expects`;
  return new BridgeError('BRIDGE_SYSLOG_BROKEN', message, { disposition: 'retry', status: 'closed' });
}

/** Something came back, so that it is no syslog server, and what it read is lost. */
export function answeredFault(place: SyslogPlace): BridgeError {
  const message = `${whoOf(place)} answered, which no syslog server does: correct the host and port in server`;
  return new BridgeError('BRIDGE_SYSLOG_MISCONFIGURED', message, { ...MISCONFIGURED, status: 'answered' });
}

/** Its name leads to the metadata service. */
export function forbiddenFault(place: SyslogPlace, address: string): BridgeError {
  const message = `${whoOf(place)} is not sent to: it is ${address}, an address of the metadata service, where no event ever goes: correct server`;
  return new BridgeError('BRIDGE_SYSLOG_MISCONFIGURED', message, MISCONFIGURED);
}

function meaningOf(code: string | undefined, { transport }: SyslogServer): Meaning {
  const advice = code !== undefined && transport === 'tls' ? tlsAdvice(code, WORDS) : undefined;
  if (advice !== undefined) return ['BRIDGE_SYSLOG_TLS', advice, RETRY];
  const local = code !== undefined && transport === 'unix' ? LOCAL[code] : undefined;
  if (local !== undefined) return local;
  if (code === 'EMSGSIZE')
    return [
      'BRIDGE_SYSLOG_REFUSED',
      'cannot be reached with a datagram so long: lower maxBytes, then dead-letters retry',
      { disposition: 'refused' },
    ];
  if (code !== undefined && isUnreachableFault(code))
    return ['BRIDGE_SYSLOG_UNREACHABLE', 'cannot be reached: check that it runs, its name and the firewall', RETRY];
  return [
    'BRIDGE_SYSLOG_BROKEN',
    'broke off: what it may not have read is sent again; if this lasts, look at the server',
    { disposition: 'retry' },
  ];
}

function whoOf({ sink, server }: SyslogPlace): string {
  return `sink ${sink}: ${server.text}`;
}

/** Without what a logger must not see: node hangs whole certificates on its errors. */
function bare(error: unknown): Error {
  return new Error(messageOf(error) || (codeOf(error) ?? 'unknown'));
}
