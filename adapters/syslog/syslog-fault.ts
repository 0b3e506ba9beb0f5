// Errors of sockets, TLS and DNS → BridgeErrors with sink, server and advice.
import {
  BridgeError,
  type BridgeErrorDetails,
  codeOf,
  type ErrorCode,
  messageOf,
  withoutDetails,
} from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import { isUnreachableFault, nameAdvice } from '../../src/net/network-codes.ts';
import { type TlsWords, tlsAdvice } from '../../src/net/tls-advice.ts';
import type { SyslogServer } from './server-address.ts';

export interface SyslogTarget {
  readonly sink: string;
  readonly server: SyslogServer;
}

type FaultMeaning = readonly [code: ErrorCode, advice: string, details: BridgeErrorDetails];

const WORDS: TlsWords = { target: 'server', section: 'tls', plain: 'that port is one for tcp://' };

const MISCONFIGURED: BridgeErrorDetails = { disposition: 'misconfigured', scope: 'sink' };
const RETRY: BridgeErrorDetails = { disposition: 'retry', scope: 'sink' };

/** Errors of a connection to a path in the file system. */
const LOCAL: Readonly<Record<string, FaultMeaning>> = {
  EPROTOTYPE: [
    'BRIDGE_SYSLOG_MISCONFIGURED',
    'is a datagram socket, such as /dev/log, which loses messages without an error: let the syslog daemon listen on a stream socket, and name that',
    MISCONFIGURED,
  ],
  EACCES: ['BRIDGE_SYSLOG_MISCONFIGURED', 'is not writable for this user: grant write access', MISCONFIGURED],
  ENOENT: ['BRIDGE_SYSLOG_UNREACHABLE', 'does not exist: start the syslog daemon, or correct the path', RETRY],
  ECONNREFUSED: ['BRIDGE_SYSLOG_UNREACHABLE', 'has no listener: start the syslog daemon, or correct the path', RETRY],
};

/** Returns a BridgeError for any error. A BridgeError passes unchanged. */
export function syslogFault(error: unknown, target: SyslogTarget): BridgeError {
  if (error instanceof BridgeError) return error;
  const code = codeOf(error);
  const unresolved = code === undefined ? undefined : nameAdvice(code, error);
  const [errorCode, advice, details] = meaningOf(code, target.server);
  const what = unresolved === undefined ? `${advice} (${code ?? messageOf(error)})` : `is unreachable: ${unresolved}`;
  const message = `${labelOf(target)} ${what}`;
  return new BridgeError(errorCode, message, { ...details, cause: withoutDetails(error), status: code });
}

export function syslogTimeoutFault(target: SyslogTarget, limitMs: number): BridgeError {
  const message = `${labelOf(target)} did not take the messages within ${formatDuration(limitMs)}: check the server, or raise timeout`;
  return new BridgeError('BRIDGE_SYSLOG_TIMEOUT', message, { ...RETRY, status: 'timeout' });
}

export function closedFault(target: SyslogTarget): BridgeError {
  const message = `${labelOf(target)} closed the connection: unconfirmed messages are sent again; if this persists, check its log, its limits and the framing that it expects`;
  return new BridgeError('BRIDGE_SYSLOG_BROKEN', message, { disposition: 'retry', status: 'closed' });
}

/** The server sent data, so it is not a syslog server, and the messages that it read are lost. */
export function answeredFault(target: SyslogTarget): BridgeError {
  const message = `${labelOf(target)} sent data, which no syslog server does: correct the host and port in server`;
  return new BridgeError('BRIDGE_SYSLOG_MISCONFIGURED', message, { ...MISCONFIGURED, status: 'answered' });
}

/** The server's name resolves to the metadata service. */
export function forbiddenFault(target: SyslogTarget, address: string): BridgeError {
  const message = `${labelOf(target)} is ${address}, an address of the metadata service, and the bridge sends no events there: correct server`;
  return new BridgeError('BRIDGE_SYSLOG_MISCONFIGURED', message, MISCONFIGURED);
}

function meaningOf(code: string | undefined, { transport }: SyslogServer): FaultMeaning {
  const advice = code !== undefined && transport === 'tls' ? tlsAdvice(code, WORDS) : undefined;
  if (advice !== undefined) return ['BRIDGE_SYSLOG_TLS', advice, RETRY];
  const local = code !== undefined && transport === 'unix' ? LOCAL[code] : undefined;
  if (local !== undefined) return local;
  if (code === 'EMSGSIZE')
    return [
      'BRIDGE_SYSLOG_REFUSED',
      'rejects the datagram because it is too long: lower maxBytes, then run dead-letters retry',
      { disposition: 'refused' },
    ];
  if (code !== undefined && isUnreachableFault(code))
    return [
      'BRIDGE_SYSLOG_UNREACHABLE',
      'is unreachable: check that it is running, its address and the firewall',
      RETRY,
    ];
  return [
    'BRIDGE_SYSLOG_BROKEN',
    'broke the connection: unconfirmed messages are sent again; if this persists, check the server',
    { disposition: 'retry' },
  ];
}

function labelOf({ sink, server }: SyslogTarget): string {
  return `sink ${sink}: ${server.text}`;
}
