// A Host header and the listen host → whether it names this machine (against DNS rebinding).
import { isLoopback } from './private-addresses.ts';

/** @param hostHeader with or without a port @param listenHost as configured; an IPv6 address without brackets */
export function isOwnHost(hostHeader: string, listenHost: string): boolean {
  const name = hostHeader.toLowerCase().replace(/:\d*$/, '');
  const address = name.replace(/^\[(.*)\]$/, '$1');
  return isLoopback(address) || address === listenHost.toLowerCase();
}
