// A proxy and a target → a tunnel by CONNECT (RFC 9110, section 9.3.6), or a fault with advice.
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { BridgeError, codeOf, type ErrorCode, messageOf } from '../errors.ts';

export interface ProxyServer {
  /** With user and password, if it requires them. */
  readonly url: URL;
  /** Its name in messages: the sink or source, and scheme and host of the proxy. */
  readonly who: string;
  /** Resolves the proxy's own name. Default: the machine's lookup. */
  readonly lookup?: LookupFunction;
  /** Verifies an https:// proxy. Null: the machine's trusted CAs. */
  readonly trust: () => SecureContext | null;
}

/** How a sink or source reports a tunnel that cannot be opened. */
interface TunnelFaults {
  readonly code: ErrorCode;
  /** What the proxy has to allow, for messages. */
  readonly target: string;
  /**
   * The fault of a failed connection to the proxy. By default, and if it returns null, the proxy's answer counts as
   * invalid.
   */
  readonly faultOf?: (error: unknown) => BridgeError | null;
}

interface ConnectAnswer {
  readonly status: number;
  /** Open on 2xx. The caller closes it in any case. */
  readonly socket: Socket;
  /** The proxy sent data before the tunnel was open. */
  readonly hasEarlyData: boolean;
}

/**
 * Returns an open connection on which no byte has arrived yet.
 * @param authority `host:port`
 * @throws BridgeError with `status` if the proxy refuses, or the signal's reason
 */
export async function openTunnel(
  proxy: ProxyServer,
  authority: string,
  faults: TunnelFaults,
  signal: AbortSignal,
): Promise<Socket> {
  const { status, socket, hasEarlyData } = await sendConnect(proxy, authority, signal).catch((error: unknown) => {
    throw signal.aborted
      ? signal.reason
      : (faults.faultOf?.(error) ?? invalidAnswer(proxy, faults, codeOf(error) ?? messageOf(error)));
  });
  const isOpen = status >= 200 && status <= 299;
  if (isOpen && !hasEarlyData) return socket;
  socket.destroy();
  throw isOpen
    ? invalidAnswer(proxy, faults, 'it sent more than its answer')
    : connectRefusal(proxy, faults, authority, status);
}

/** @throws what node throws, or the signal's reason. */
async function sendConnect(proxy: ProxyServer, authority: string, signal: AbortSignal): Promise<ConnectAnswer> {
  const { url, lookup, trust } = proxy;
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const trusted = secure ? trust() : null;
  // A TLS server name is not an address, and has no dot at the end (RFC 6066, section 3).
  const servername = process.getBuiltinModule('node:net').isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const request = process.getBuiltinModule(secure ? 'node:https' : 'node:http').request({
    method: 'CONNECT',
    path: authority,
    host,
    port: url.port || (secure ? 443 : 80),
    headers: { host: authority, ...credentialsOf(url) },
    // No shared agent: the global one may have a proxy from the environment.
    agent: false,
    ...(lookup && { lookup }),
    // NODE_TLS_REJECT_UNAUTHORIZED must not turn verification off.
    ...(secure && { servername, rejectUnauthorized: true, ...(trusted && { secureContext: trusted }) }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<ConnectAnswer>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  request.on('error', reject);
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) =>
    resolve({ status: statusCode, socket, hasEarlyData: head.length > 0 }),
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

function connectRefusal(
  { who }: ProxyServer,
  { code, target }: TunnelFaults,
  authority: string,
  status: number,
): BridgeError {
  const isPassing = status === 408 || status === 429 || status < 300 || status > 499;
  const advice = isPassing
    ? 'the bridge retries; if it persists, check whether the proxy can reach the target'
    : status === 407
      ? 'it requires a user and a password: set proxy to { env: NAME } or { file: PATH } with http://user:password@host:port'
      : `allow ${target} on the proxy, or correct proxy`;
  return new BridgeError(code, `${who} answered ${status} to CONNECT ${authority}: ${advice}`, {
    disposition: isPassing ? 'retry' : 'misconfigured',
    scope: 'sink',
    status,
  });
}

function invalidAnswer({ who }: ProxyServer, { code }: TunnelFaults, said: string): BridgeError {
  const message = `${who} gave no valid answer to CONNECT (${said}): the bridge retries; if this lasts, check that it runs and is an HTTP proxy`;
  return new BridgeError(code, message, { disposition: 'retry', scope: 'sink', status: said });
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
