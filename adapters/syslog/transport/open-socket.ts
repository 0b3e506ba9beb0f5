// A server → a socket that connects to it, with TLS where it says so, to allowed addresses only.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { checkedLookup, checkLiteral } from '../../../src/net/checked-lookup.ts';
import { serverNameOf } from '../../../src/net/http-exchange.ts';
import type { NetworkServer } from '../server-address.ts';
import { serverGuard, type TransportParts } from './transport.ts';

export interface TlsParts {
  /** Null: what the machine trusts, and no certificate of our own. @throws BridgeError of files that cannot be used */
  readonly context: () => SecureContext | null;
  /** In place of the server's host. */
  readonly serverName: string | undefined;
}

/** Says `error` and `close` as sockets do. @throws BridgeError where no connection may be made */
export function openSocket({ place, resolve }: Pick<TransportParts, 'place' | 'resolve'>, tls: TlsParts): Socket {
  const { server } = place;
  const net = process.getBuiltinModule('node:net');
  if (server.transport === 'unix') return net.connect({ path: server.path });
  const guard = serverGuard(place);
  checkLiteral(guard, server.host);
  const to = { host: server.host, port: server.port, lookup: checkedLookup(guard, resolve) };
  const socket = server.transport === 'tls' ? secure(to, server, tls) : net.connect(to);
  // Many messages are short, and none of them waits for the next.
  return socket.setNoDelay(true);
}

/** Resolves once bytes may be written: with TLS, once the server has proved who it is. Rejects with what the socket says first. */
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
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    ...(secureContext && { secureContext }),
  });
}
