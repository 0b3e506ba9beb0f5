// A proxy and a target → the answer to CONNECT (RFC 9110, section 9.3.6), with advice if refused.
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { BridgeError, type ErrorCode } from '../errors.ts';

export interface ProxyServer {
  /** With user and password, if it wants some. */
  readonly url: URL;
  /** How messages name it: the sink or source, and scheme and host of the proxy. */
  readonly who: string;
  /** Looks up the proxy's own name; absent: as the machine does. */
  readonly lookup?: LookupFunction;
  /** What an https:// proxy is verified against; null: what the machine trusts. */
  readonly trust: () => SecureContext | null;
}

export interface ConnectAnswer {
  readonly status: number;
  /** Open on 2xx; the caller's in any case. */
  readonly socket: Socket;
  /** The proxy said something in the target's place. */
  readonly isMoreThanAnswer: boolean;
}

/** @param authority `host:port`. @throws what node throws, or the signal's reason. */
export async function askConnect(proxy: ProxyServer, authority: string, signal: AbortSignal): Promise<ConnectAnswer> {
  const { url, lookup, trust } = proxy;
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const trusted = secure ? trust() : null;
  // TLS names no addresses, and no dot at the end (RFC 6066, section 3).
  const servername = process.getBuiltinModule('node:net').isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const request = process.getBuiltinModule(secure ? 'node:https' : 'node:http').request({
    method: 'CONNECT',
    path: authority,
    host,
    port: url.port || (secure ? 443 : 80),
    headers: { host: authority, ...credentialsOf(url) },
    // One of its own for each tunnel, as the global one may have a proxy from the environment.
    agent: false,
    ...(lookup && { lookup }),
    // NODE_TLS_REJECT_UNAUTHORIZED must not switch it off.
    ...(secure && { servername, rejectUnauthorized: true, ...(trusted && { secureContext: trusted }) }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<ConnectAnswer>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  request.on('error', reject);
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) =>
    resolve({ status: statusCode, socket, isMoreThanAnswer: head.length > 0 }),
  );
  request.end();
  try {
    return await promise;
  } catch (error) {
    request.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** What a status other than 2xx means. `target`: what the proxy was to connect to, and would have to allow. */
export function connectRefusal(
  code: ErrorCode,
  { who }: Pick<ProxyServer, 'who'>,
  authority: string,
  status: number,
  target: string,
): BridgeError {
  const isPassing = status === 408 || status === 429 || status < 300 || status > 499;
  const advice = isPassing
    ? 'it is tried again; if this lasts, see whether the proxy can reach it'
    : status === 407
      ? 'it wants a user and a password: give proxy as { env: NAME } or { file: PATH } that holds http://user:password@host:port'
      : `have it allow ${target}, or correct proxy`;
  return new BridgeError(code, `${who} answered ${status} to CONNECT ${authority}: ${advice}`, {
    disposition: isPassing ? 'retry' : 'misconfigured',
    scope: 'sink',
    status,
  });
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
