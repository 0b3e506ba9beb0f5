// A proxy and a target → a connection through the proxy to a checked address of the target.
import type { LookupAddress } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { BridgeError } from '../../src/errors.ts';
import { urlHost } from '../../src/formats/url-host.ts';
import { openTunnel, type ProxyServer } from '../../src/net/proxy-connect.ts';
import { type HttpPlace, networkFault } from './failures.ts';

/** The bridge tries at most this many addresses of a name, one after the other. */
const MOST_ADDRESSES = 4;
/** What the proxy has to allow. */
const CHECKED = 'that address (the bridge asks for the address that it checked, not for a name)';
/** The proxy could not reach the address, and may reach another one. */
const UNREACHABLE: readonly unknown[] = [502, 503, 504];

export interface SinkProxy {
  readonly server: ProxyServer;
  readonly place: HttpPlace;
}

interface TunnelTarget {
  /** A name, or an address that was checked. */
  readonly host: string;
  readonly port: number;
  /** Returns only checked addresses. */
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
}

/** Returns an open connection on which no byte has arrived yet. @throws BridgeError, or the signal's reason */
export async function openCheckedTunnel(
  { server, place }: SinkProxy,
  { host, port, lookup, signal }: TunnelTarget,
): Promise<Socket> {
  const faults = {
    code: place.codes.proxy,
    target: CHECKED,
    faultOf: (error: unknown) => ofTheWholeSink(networkFault(error, place)),
  };
  const addresses = await addressesOf(host, lookup);
  for (const [index, { address }] of addresses.entries()) {
    signal.throwIfAborted();
    const authority = `${urlHost(address)}:${port}`;
    try {
      return await openTunnel(server, authority, faults, signal);
    } catch (error) {
      const isLast = index === addresses.length - 1;
      if (isLast || !(error instanceof BridgeError) || !UNREACHABLE.includes(error.status)) throw error;
    }
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

/**
 * Null for a broken connection, which neither TLS nor the network explains: the other side may not be an HTTP proxy.
 */
function ofTheWholeSink(fault: BridgeError): BridgeError | null {
  return fault.scope === 'delivery' ? null : fault;
}
