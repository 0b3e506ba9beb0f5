// A server → a socket that connects to it, over TLS for tls://, to allowed addresses only.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { checkedLookup, checkLiteral } from '../../../src/net/checked-lookup.ts';
import { serverNameOf } from '../../../src/net/http-exchange.ts';
import type { NetworkServer } from '../server-address.ts';
import { serverGuard, type TransportParts } from './transport.ts';

export interface TlsParts {
  /**
   * Returns the TLS files as a context. Null: the default authorities, and no client certificate.
   * @throws BridgeError if the files cannot be used
   */
  readonly context: () => SecureContext | null;
  /** Replaces the server's host in the check of its certificate. */
  readonly serverName: string | undefined;
}

/**
 * Starts to connect. The socket emits `error` and `close` as usual.
 * @throws BridgeError if the address is forbidden or the TLS files cannot be used
 */
export function openSocket({ target, resolve }: Pick<TransportParts, 'target' | 'resolve'>, tls: TlsParts): Socket {
  const { server } = target;
  const net = process.getBuiltinModule('node:net');
  if (server.transport === 'unix') return net.connect({ path: server.path });
  const guard = serverGuard(target);
  checkLiteral(guard, server.host);
  const to = { host: server.host, port: server.port, lookup: checkedLookup(guard, resolve) };
  const socket = server.transport === 'tls' ? secure(to, server, tls) : net.connect(to);
  // Most messages are short, and none should wait for the next.
  return socket.setNoDelay(true);
}

/** Resolves when bytes may be written: with TLS, after the server is verified. Rejects with the socket's first error. */
export async function opened(
  socket: Socket,
  { transport }: Pick<NetworkServer, 'transport'> | { readonly transport: 'unix' },
): Promise<void> {
  await once(socket, transport === 'tls' ? 'secureConnect' : 'connect');
}

function secure(to: { readonly host: string; readonly port: number }, { host }: NetworkServer, { context, serverName }: TlsParts): Socket {
  const secureContext = context();
  return process.getBuiltinModule('node:tls').connect({
    ...to,
    servername: serverName ?? serverNameOf(host),
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    ...(secureContext && { secureContext }),
  });
}
