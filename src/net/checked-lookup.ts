// A host name → its allowed addresses: the only place that resolves names.
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

/** `dns.lookup` with `all`; tests replace it. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The allowed addresses for the connections of one target. */
export interface AddressGuard {
  readonly isAllowed: (address: string) => boolean;
  /** Creates the error if no address is allowed. `address` is one of the forbidden ones, or `no address`. */
  readonly forbidden: (address: string, hostname: string) => Error;
}

/**
 * Returns a lookup for connections. It checks every address of the name and passes on only the allowed ones, so no
 * connection can use an unchecked address. Fails with the guard's error if none is allowed.
 */
export function checkedLookup(
  { isAllowed, forbidden }: AddressGuard,
  resolve: Resolve = systemResolve,
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (!first) return done(forbidden(found[0]?.address ?? 'no address', hostname), '');
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

/** Checks a host that is itself an address, which Node does not look up. @throws the guard's error */
export function checkLiteral({ isAllowed, forbidden }: AddressGuard, host: string): void {
  if (isIP(host) !== 0 && !isAllowed(host)) throw forbidden(host, host);
}

function systemResolve(...asked: Parameters<Resolve>): void {
  process.getBuiltinModule('node:dns').lookup(...asked);
}
