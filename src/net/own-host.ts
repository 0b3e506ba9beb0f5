// A Host header and the host that is listened on → whether it names this machine, and not a name that a web page made point here.
import { isLoopback } from './private-addresses.ts';

/** @param hostHeader with or without a port; @param listenHost as it was configured, an IPv6 address without brackets */
export function isOwnHost(hostHeader: string, listenHost: string): boolean {
  const name = hostHeader.toLowerCase().replace(/:\d*$/, '');
  const address = name.replace(/^\[(.*)\]$/, '$1');
  return isLoopback(address) || address === listenHost.toLowerCase();
}
