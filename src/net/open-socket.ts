// A destination → a TLS connection to it; a socket → the same one, once it is open.
import type { LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext, TLSSocket } from 'node:tls';
import { serverNameOf } from './http-exchange.ts';

interface TlsDestination {
  readonly host: string;
  readonly port?: number;
  readonly lookup?: LookupFunction;
  /** An open connection to the host, in place of a new one. */
  readonly socket?: Socket;
}

/**
 * Starts to connect over TLS.
 * @param context null: the default authorities, and no client certificate
 * @param serverName the name that the server's certificate must have; default: the host
 */
export function connectTls(to: TlsDestination, context: SecureContext | null, serverName?: string | null): TLSSocket {
  return process.getBuiltinModule('node:tls').connect({
    ...to,
    servername: serverName ?? serverNameOf(to.host),
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    ...(context && { secureContext: context }),
  });
}

/**
 * Resolves when the socket emits `event`. If it fails, closes or the signal aborts first, destroys it and rejects with
 * the reason.
 */
export function untilOpen<Opening extends Duplex>(
  socket: Opening,
  event: string,
  signal: AbortSignal,
): Promise<Opening> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', abort);
      socket.off('error', settle).off('close', closed);
      if (error === undefined) return resolve(socket);
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const abort = () => settle(signal.reason);
    const closed = () => settle(new Error('closed before it was open'));
    socket.on('error', settle).on('close', closed);
    socket.once(event, () => settle());
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
