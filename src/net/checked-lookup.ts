// A host name → its allowed addresses: the only way in which names are resolved.
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

/** `dns.lookup` with `all`; tests answer in its place. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Where the connections of one target may go. */
export interface AddressGuard {
  readonly isAllowed: (address: string) => boolean;
  /** The error where no address passes: `address` is one of them, or says that there is none. */
  readonly forbidden: (address: string, hostname: string) => Error;
}

/**
 * A lookup for connections: every address that the name has is judged, and only those that pass are handed on, so nothing can connect
 * to one that was not checked. Fails with the guard's error where none passes.
 */
export function checkedLookup({ isAllowed, forbidden }: AddressGuard, resolve: Resolve = systemResolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      const passing = found.filter(({ address }) => isAllowed(address));
      const [first] = passing;
      if (!first) return done(forbidden(found[0]?.address ?? 'no address', hostname), '');
      if (options.all) done(null, passing);
      else done(null, first.address, first.family);
    });
  };
}

/** For a host that is itself an address, which no lookup sees. @throws the guard's error */
export function checkLiteral({ isAllowed, forbidden }: AddressGuard, host: string): void {
  if (isIP(host) !== 0 && !isAllowed(host)) throw forbidden(host, host);
}

function systemResolve(...asked: Parameters<Resolve>): void {
  process.getBuiltinModule('node:dns').lookup(...asked);
}
