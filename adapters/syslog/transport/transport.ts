// The interface of the syslog transports: messages → outcomes; and their shared parts.
import { type AddressGuard, isMetadataAddress, type Resolve } from '../../../src/net/private-addresses.ts';
import type { AdapterDeps, Outcome } from '../../adapter.ts';
import { forbiddenFault, type SyslogTarget } from '../syslog-fault.ts';

export interface SyslogTransport {
  /**
   * Resolves to one outcome for each message, in order. Rejects for all of them, with the signal's reason, a
   * BridgeError or an error of Node.
   */
  send(messages: readonly Uint8Array[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** Checks the connection, as `Adapter.check`. */
  check(signal: AbortSignal): Promise<string | null>;
  close(): void;
}

export interface TransportParts {
  readonly target: SyslogTarget;
  /** Limit for connecting and sending. */
  readonly timeoutMs: number;
  readonly deps: Pick<AdapterDeps, 'after' | 'elapsedMs'>;
  /** Replaces the system's name resolution. */
  readonly resolve?: Resolve | undefined;
}

/** Returns a guard that forbids only the metadata service, also if a name resolves to it. */
export function serverGuard(target: SyslogTarget): AddressGuard {
  return {
    isAllowed: (address) => !isMetadataAddress(address),
    forbidden: (address) => forbiddenFault(target, address),
  };
}
