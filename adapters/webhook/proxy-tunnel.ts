// A proxy and a target → a connection through the proxy to an address of the target that was checked here (HTTP CONNECT, RFC 9110, section 9.3.6).
import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { BridgeError } from '../../src/errors.ts';
import { hostOf, serverNameOf } from './exchange.ts';
import { networkFault } from './network-fault.ts';

/** So many addresses of one name are tried, one after the other. */
const MOST_ADDRESSES = 4;

export interface ProxyServer {
  /** With user and password, if it wants some. */
  readonly url: URL;
  /** How messages name it: the sink, and scheme and host of the proxy. */
  readonly who: string;
  /** Judges the proxy's own addresses. */
  readonly lookup: LookupFunction;
  /** What an https:// proxy is verified against; null: what the machine trusts. */
  readonly trust: () => SecureContext | null;
}

export interface TunnelTarget {
  /** A name, or an address that was checked. */
  readonly host: string;
  readonly port: number;
  /** Hands on checked addresses alone. */
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
}

/** An open connection on which not a byte came yet. @throws BridgeError, or the signal's reason. */
export async function openTunnel(proxy: ProxyServer, { host, port, lookup, signal }: TunnelTarget): Promise<Socket> {
  const addresses = await addressesOf(host, lookup);
  for (const [index, { address, family }] of addresses.entries()) {
    signal.throwIfAborted();
    const authority = `${family === 6 ? `[${address}]` : address}:${port}`;
    const { status, socket } = await connect(proxy, authority, signal);
    if (status >= 200 && status <= 299) return socket;
    socket.destroy();
    const isLast = index === addresses.length - 1;
    // The proxy could not reach this address; it may reach another one.
    if (isLast || ![502, 503, 504].includes(status)) throw refusal(proxy, authority, status);
  }
  throw new RangeError('a look-up that succeeds has an address');
}

async function addressesOf(host: string, lookup: LookupFunction): Promise<readonly LookupAddress[]> {
  const family = process.getBuiltinModule('node:net').isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const found = await new Promise<readonly LookupAddress[]>((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(Array.isArray(addresses) ? addresses : []);
    });
  });
  return found.slice(0, MOST_ADDRESSES);
}

function connect(proxy: ProxyServer, authority: string, signal: AbortSignal): Promise<{ status: number; socket: Socket }> {
  const { url, who, lookup, trust } = proxy;
  const secure = url.protocol === 'https:';
  const host = hostOf(url);
  const trusted = secure ? trust() : null;
  const request = process.getBuiltinModule(secure ? 'node:https' : 'node:http').request({
    method: 'CONNECT',
    path: authority,
    host,
    port: url.port || (secure ? 443 : 80),
    headers: { host: authority, ...credentialsOf(url) },
    // One of its own for each tunnel, as the global one may have a proxy from the environment.
    agent: false,
    lookup,
    ...(secure && { servername: serverNameOf(host), rejectUnauthorized: true, ...(trusted && { secureContext: trusted }) }),
  });
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', abort);
      request.destroy();
      reject(error);
    };
    const abort = () => fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', (error) => fail(proxyFault(error, who)));
    request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      signal.removeEventListener('abort', abort);
      if (statusCode >= 200 && statusCode <= 299 && head.length > 0) {
        socket.destroy();
        return reject(broken(who, 'it sent more than its answer'));
      }
      resolve({ status: statusCode, socket });
    });
    request.end();
  });
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function refusal({ who }: ProxyServer, authority: string, status: number): BridgeError {
  const isPassing = status === 408 || status === 429 || status < 300 || status > 499;
  const advice = isPassing
    ? 'it is tried again; if this lasts, see whether the proxy can reach that address'
    : status === 407
      ? 'it wants a user and a password: give proxy as { env: NAME } or { file: PATH } that holds http://user:password@host:port'
      : 'have it allow that address (it is asked for the address that was checked here, not for a name), or correct proxy';
  return new BridgeError('BRIDGE_WEBHOOK_PROXY', `${who} answered ${status} to CONNECT ${authority}: ${advice}`, {
    disposition: isPassing ? 'retry' : 'misconfigured',
    scope: 'sink',
    status,
  });
}

function proxyFault(error: unknown, who: string): BridgeError {
  const fault = networkFault(error, who);
  return fault.code === 'BRIDGE_WEBHOOK_BROKEN' ? broken(who, String(fault.status ?? 'closed')) : fault;
}

function broken(who: string, said: string): BridgeError {
  const message = `${who} broke off without a proper answer to CONNECT (${said}): it is tried again; if this lasts, see whether it is an HTTP proxy`;
  return new BridgeError('BRIDGE_WEBHOOK_PROXY', message, { disposition: 'retry', scope: 'sink' });
}
