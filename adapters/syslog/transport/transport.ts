// How messages get to a syslog server, and what the ways there have in common.

import type { AddressGuard, Resolve } from '../../../src/net/checked-lookup.ts';
import { isMetadataAddress } from '../../../src/net/private-addresses.ts';
import type { AdapterDeps, Outcome } from '../../adapter.ts';
import { forbiddenFault, type SyslogPlace } from '../syslog-fault.ts';

/** One way to a server. */
export interface Transport {
  /** One outcome for each message, in order. Rejects with the signal's reason, a BridgeError or what Node throws, for all of them. */
  send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** As `Adapter.check`. */
  check(signal: AbortSignal): Promise<string | null>;
  close(): void;
}

export interface TransportParts {
  readonly place: SyslogPlace;
  /** For connecting and handing over. */
  readonly timeoutMs: number;
  readonly deps: Pick<AdapterDeps, 'after' | 'elapsedMs'>;
  /** Answers name look-ups instead of the system. */
  readonly resolve?: Resolve | undefined;
}

/** Lets everything pass but the metadata service, which a name may lead to as well. */
export function serverGuard(place: SyslogPlace): AddressGuard {
  return {
    isAllowed: (address) => !isMetadataAddress(address),
    forbidden: (address) => forbiddenFault(place, address),
  };
}
