// A broker's host and port → a socket to it, with TLS as configured, to allowed addresses only.
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';
import { BridgeError } from '../../../src/errors.ts';
import { type AddressGuard, checkedLookup, checkLiteral } from '../../../src/net/checked-lookup.ts';
import { isLoopback, isMetadataAddress } from '../../../src/net/private-addresses.ts';

const KEEP_ALIVE_MS = 60_000;

interface BrokerSocketParts {
  /** `sinks.stream`. */
  readonly place: string;
  /** Null: no TLS. */
  readonly tls: {
    /** Returns null for the default authorities without a client certificate. @throws BridgeError BRIDGE_KAFKA_TLS_FILES */
    readonly context: () => SecureContext | null;
    /** Replaces each broker's own host. */
    readonly serverName: string | null;
  } | null;
  /** Whether the login sends a reusable secret, which may leave this machine only with TLS. */
  readonly needsTls: boolean;
}

/** Returns a socket factory. It throws BridgeErrors (misconfigured) for forbidden connections; other errors are events of the socket. */
export function brokerSockets({ place, tls, needsTls }: BrokerSocketParts): ISocketFactory {
  // Names can resolve to any address, including the names that a cluster advertises.
  const guard: AddressGuard = {
    isAllowed: (address) => !isMetadataAddress(address),
    forbidden: (address, host) => forbidden(place, host, address),
  };
  const lookup = checkedLookup(guard);
  return ({ host, port, onConnect }) => {
    checkLiteral(guard, host);
    if (tls === null && needsTls && !isLoopback(host)) throw insecure(place, host);
    const to = { host, port, lookup };
    const socket = tls === null ? plain(to, onConnect) : secure(to, tls, onConnect);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}

interface Destination {
  readonly host: string;
  readonly port: number;
  readonly lookup: LookupFunction;
}

function plain(to: Destination, onConnect: () => void): Socket {
  return process.getBuiltinModule('node:net').connect(to, onConnect);
}

function secure(to: Destination, { context, serverName }: NonNullable<BrokerSocketParts['tls']>, onConnect: () => void): Socket {
  const secureContext = context();
  const isAddress = process.getBuiltinModule('node:net').isIP(to.host) !== 0;
  // SNI has no addresses and no final dot (RFC 6066, section 3). Node compares an address with the addresses of the certificate.
  const servername = serverName ?? (isAddress ? null : to.host.replace(/\.$/, ''));
  return process.getBuiltinModule('node:tls').connect(
    {
      ...to,
      ...(servername !== null && { servername }),
      ...(secureContext !== null && { secureContext }),
      // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
    },
    onConnect,
  );
}

function forbidden(place: string, host: string, address: string): BridgeError {
  const message = `${place} does not connect to the broker ${host}: ${address} is an address of the metadata service: correct brokers, or advertised.listeners of the brokers`;
  return new BridgeError('BRIDGE_KAFKA_FORBIDDEN_ADDRESS', message, { disposition: 'misconfigured', scope: 'sink' });
}

function insecure(place: string, host: string): BridgeError {
  const message =
    `${place} does not connect to the broker ${host}: sasl would send its secret unencrypted: set ssl: true, or allowInsecure: true ` +
    'if the network is trusted';
  return new BridgeError('BRIDGE_KAFKA_INSECURE', message, { disposition: 'misconfigured', scope: 'sink' });
}
