// A broker's host and port → a socket to it, with TLS as configured, to allowed addresses only.
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';
import { BridgeError } from '../../../src/errors.ts';
import { type AddressGuard, checkedLookup, checkLiteral } from '../../../src/net/checked-lookup.ts';
import { isLoopback, isMetadataAddress } from '../../../src/net/private-addresses.ts';

const KEEP_ALIVE_MS = 60_000;

export interface BrokerSocketParts {
  /** `sinks.stream`. */
  readonly place: string;
  /** Null: no TLS. */
  readonly tls: {
    /** Null: what the machine trusts, and no certificate of our own. @throws BridgeError BRIDGE_KAFKA_TLS_FILES */
    readonly context: () => SecureContext | null;
    /** In place of each broker's own host. */
    readonly serverName: string | null;
  } | null;
  /** A password or token is sent that anyone who listens could use, and only this machine may see it without TLS. */
  readonly needsTls: boolean;
}

/** Throws BridgeErrors (misconfigured) where a connection must not be made; else the socket tells by its events. */
export function brokerSockets({ place, tls, needsTls }: BrokerSocketParts): ISocketFactory {
  // Names can point anywhere, those too that a cluster tells us of its brokers.
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
  // TLS names no addresses, and no dot at the end (RFC 6066, section 3); an address is then judged by the certificate's own addresses.
  const servername = serverName ?? (isAddress ? null : to.host.replace(/\.$/, ''));
  return process.getBuiltinModule('node:tls').connect(
    {
      ...to,
      ...(servername !== null && { servername }),
      ...(secureContext !== null && { secureContext }),
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
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
