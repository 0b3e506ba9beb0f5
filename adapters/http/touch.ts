// An agent and a target → one connection, opened and closed, to check that a request is possible.
import type { Agent, ClientRequestArgs } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { hostOf, type RequestExtras } from '../../src/net/http-exchange.ts';
import { untilOpen } from '../../src/net/open-socket.ts';
import type { Deps } from '../../src/time/clock.ts';

/** How long a receiver may take to reject the client certificate: in TLS 1.3 it does so after the handshake. */
const OBJECTION_MS = 500;

interface TouchTarget {
  readonly url: URL;
  readonly lookup: LookupFunction;
  readonly deps: Pick<Deps, 'after'>;
}

/** Rejects with the signal's reason, a BridgeError, or what Node throws. */
export async function touch(agent: Agent, { url, lookup, deps }: TouchTarget, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const tls = process.getBuiltinModule('node:tls');
  const secured = agent instanceof process.getBuiltinModule('node:https').Agent ? agent.options : null;
  const port = Number(url.port || (secured ? 443 : 80));
  const options: ClientRequestArgs & RequestExtras = { ...secured, host: hostOf(url), port, lookup, until: signal };
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const made = agent.createConnection(options, (error, stream) => (error ? reject(error) : resolve(stream)));
    if (made) resolve(made);
  });
  try {
    // The socket of a tunnel to an http:// url may be the TLS socket of the proxy, which is already open.
    if (secured && socket instanceof tls.TLSSocket) await secure(socket, deps, signal);
    else if (socket instanceof process.getBuiltinModule('node:net').Socket && socket.connecting)
      await untilOpen(socket, 'connect', signal);
  } finally {
    socket.destroy();
  }
}

/**
 * Waits for the handshake and, in TLS 1.3, for the receiver's verdict on the client certificate: a resumable session
 * means acceptance.
 */
async function secure(socket: TLSSocket, deps: TouchTarget['deps'], signal: AbortSignal): Promise<void> {
  const session = untilOpen(socket, 'session', signal);
  // If the connection fails, the handshake below throws the reason.
  session.catch(() => undefined);
  await untilOpen(socket, 'secureConnect', signal);
  if (socket.getProtocol() !== 'TLSv1.3') return;
  socket.resume();
  const { promise: silence, resolve } = Promise.withResolvers<void>();
  const cancel = deps.after(OBJECTION_MS, resolve);
  await Promise.race([session, silence]).finally(cancel);
}
