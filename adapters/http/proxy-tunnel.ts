// A proxy and a target → a connection through it to a checked address (HTTP CONNECT).
import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { BridgeError } from '../../src/errors.ts';
import { askConnect, type ConnectAnswer, connectRefusal, type ProxyServer } from '../../src/net/proxy-connect.ts';
import { type HttpPlace, whoOf } from './failures.ts';
import { networkFault } from './network-fault.ts';

/** So many addresses of one name are tried, one after the other. */
const MOST_ADDRESSES = 4;
/** What a proxy would have to allow. */
const CHECKED = 'that address (the bridge asks for the address that it checked, not for a name)';

/** A proxy of a sink. */
export interface SinkProxy {
  readonly server: ProxyServer;
  readonly place: HttpPlace;
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
export async function openTunnel({ server, place }: SinkProxy, { host, port, lookup, signal }: TunnelTarget): Promise<Socket> {
  const addresses = await addressesOf(host, lookup);
  for (const [index, { address, family }] of addresses.entries()) {
    signal.throwIfAborted();
    const authority = `${family === 6 ? `[${address}]` : address}:${port}`;
    const { status, socket } = await connect(server, place, authority, signal);
    if (status >= 200 && status <= 299) return socket;
    socket.destroy();
    const isLast = index === addresses.length - 1;
    // The proxy could not reach this address; it may reach another one.
    if (isLast || ![502, 503, 504].includes(status)) throw connectRefusal(place.codes.proxy, server, authority, status, CHECKED);
  }
  throw new RangeError('the look-up returned no address');
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

async function connect(proxy: ProxyServer, place: HttpPlace, authority: string, signal: AbortSignal): Promise<ConnectAnswer> {
  const answer = await askConnect(proxy, authority, signal).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : proxyFault(error, place);
  });
  if (answer.status < 200 || answer.status > 299 || !answer.isMoreThanAnswer) return answer;
  answer.socket.destroy();
  throw broken(place, 'it sent more than its answer');
}

function proxyFault(error: unknown, place: HttpPlace): BridgeError {
  const fault = networkFault(error, place);
  // Neither TLS nor the way there explains it.
  return fault.scope === 'delivery' ? broken(place, String(fault.status ?? 'closed')) : fault;
}

function broken(place: HttpPlace, said: string): BridgeError {
  const message = `${whoOf(place)} gave no valid answer to CONNECT (${said}): the bridge retries; if this lasts, check that it runs and is an HTTP proxy`;
  return new BridgeError(place.codes.proxy, message, { disposition: 'retry', scope: 'sink' });
}
