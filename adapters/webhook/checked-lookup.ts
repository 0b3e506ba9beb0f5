// A host name → its addresses, those left out that no request may go to; how the webhook's connections resolve names.
import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { BridgeError } from '../../src/errors.ts';
import type { Verdict } from '../../src/private-addresses.ts';

/** `dns.lookup` with `all`; tests answer in its place. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** What the guard must know of its sink. */
export interface Guard {
  readonly sink: string;
  /** Scheme and host, to show. */
  readonly origin: string;
  readonly judge: (address: string) => Verdict;
  /** The key to correct: `url` by default. */
  readonly key?: string;
}

/**
 * A lookup for connections: every address that the name has is judged, and only those that pass are handed on, so nothing can connect
 * to one that was not checked. Fails with BRIDGE_WEBHOOK_FORBIDDEN_ADDRESS where none passes.
 */
export function checkedLookup(guard: Guard, resolve: Resolve = systemLookup): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      const passing = found.filter(({ address }) => guard.judge(address) === 'allowed');
      const [first] = passing;
      if (!first) return done(forbidden(guard, found[0]?.address ?? 'no address'), '');
      if (options.all) done(null, passing);
      else done(null, first.address, first.family);
    });
  };
}

/** For a host that is itself an address, which no lookup sees. @throws BridgeError BRIDGE_WEBHOOK_FORBIDDEN_ADDRESS */
export function checkLiteral(guard: Guard, host: string): void {
  if (isIP(host) !== 0 && guard.judge(host) !== 'allowed') throw forbidden(guard, host);
}

function forbidden(guard: Guard, address: string): BridgeError {
  const never = isIP(address) !== 0 && guard.judge(address) === 'metadata';
  const key = guard.key ?? 'url';
  const advice = never
    ? `an address of the metadata service, where no event ever goes: correct ${key}`
    : `not a public address: correct ${key}, or list the range in sinks.${guard.sink}.allowPrivate if you trust it`;
  return new BridgeError(
    'BRIDGE_WEBHOOK_FORBIDDEN_ADDRESS',
    `sink ${guard.sink} does not connect to ${guard.origin}: it is ${address}, ${advice}`,
    {
      disposition: 'misconfigured',
      scope: 'sink',
    },
  );
}
