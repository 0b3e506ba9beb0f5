// A proxy and a target → a connection through the proxy to an address of the target that was checked here (HTTP CONNECT, RFC 9110, section 9.3.6).
import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { BridgeError } from '../../src/errors.ts';
import { askConnect, connectRefusal, type ProxyServer } from '../../src/net/proxy-connect.ts';
import { networkFault } from './network-fault.ts';

/** So many addresses of one name are tried, one after the other. */
const MOST_ADDRESSES = 4;
/** What a proxy would have to allow. */
const CHECKED = 'that address (it is asked for the address that was checked here, not for a name)';

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
    if (isLast || ![502, 503, 504].includes(status)) throw connectRefusal('BRIDGE_WEBHOOK_PROXY', proxy, authority, status, CHECKED);
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

async function connect(proxy: ProxyServer, authority: string, signal: AbortSignal): Promise<{ status: number; socket: Socket }> {
  const answer = await askConnect(proxy, authority, signal).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : proxyFault(error, proxy.who);
  });
  if (answer.status < 200 || answer.status > 299 || !answer.isMoreThanAnswer) return answer;
  answer.socket.destroy();
  throw broken(proxy.who, 'it sent more than its answer');
}

function proxyFault(error: unknown, who: string): BridgeError {
  const fault = networkFault(error, who);
  return fault.code === 'BRIDGE_WEBHOOK_BROKEN' ? broken(who, String(fault.status ?? 'closed')) : fault;
}

function broken(who: string, said: string): BridgeError {
  const message = `${who} broke off without a proper answer to CONNECT (${said}): it is tried again; if this lasts, see whether it is an HTTP proxy`;
  return new BridgeError('BRIDGE_WEBHOOK_PROXY', message, { disposition: 'retry', scope: 'sink' });
}
