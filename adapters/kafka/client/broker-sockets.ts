// A broker's host and port → a socket to it, with TLS as configured, to allowed addresses only.
import type { SecureContext } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';
import { BridgeError } from '../../../src/errors.ts';
import { connectTls } from '../../../src/net/open-socket.ts';
import {
  type AddressGuard,
  checkedLookup,
  checkLiteral,
  isLoopback,
  isMetadataAddress,
} from '../../../src/net/private-addresses.ts';

const KEEP_ALIVE_MS = 60_000;

interface BrokerSocketParts {
  /** `sinks.stream`. */
  readonly place: string;
  /** Null: no TLS. */
  readonly tls: {
    /**
     * Returns null for the default authorities without a client certificate.
     * @throws BridgeError BRIDGE_KAFKA_TLS_FILES
     */
    readonly context: () => SecureContext | null;
    /** Replaces each broker's own host. */
    readonly serverName: string | null;
  } | null;
  /** Whether the login sends a reusable secret, which may leave this machine only with TLS. */
  readonly needsTls: boolean;
}

/**
 * Returns a socket factory. It throws BridgeErrors (misconfigured) for forbidden connections; other errors are events
 * of the socket.
 */
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
    const socket =
      tls === null
        ? process.getBuiltinModule('node:net').connect(to, onConnect)
        : connectTls(to, tls.context(), tls.serverName).once('secureConnect', onConnect);
    return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
  };
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
