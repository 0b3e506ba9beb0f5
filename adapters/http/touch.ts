// An agent and a target → one connection, closed again: could a request be made?
import type { Agent, ClientRequestArgs } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { hostOf, type RequestExtras } from '../../src/net/http-exchange.ts';
import type { Deps } from '../../src/time/clock.ts';

/** How long a receiver may take to say that it does not want our certificate: in TLS 1.3 it says so after the handshake. */
const OBJECTION_MS = 500;

export interface TouchTarget {
  readonly url: URL;
  readonly lookup: LookupFunction;
  readonly deps: Pick<Deps, 'after'>;
}

/** Rejects with the signal's reason, a BridgeError, or what node throws. */
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
    // That of a tunnel to an http:// url may be a proxy's TLS, which is open already.
    if (secured && socket instanceof tls.TLSSocket) await secure(socket, deps, signal);
    else if (socket instanceof process.getBuiltinModule('node:net').Socket && socket.connecting) await next(socket, 'connect', signal);
  } finally {
    socket.destroy();
  }
}

/** Until the handshake is done and, in TLS 1.3, the receiver had its say about our certificate: a session that can be resumed is a yes. */
async function secure(socket: TLSSocket, deps: TouchTarget['deps'], signal: AbortSignal): Promise<void> {
  const session = next(socket, 'session', signal);
  // Where there is no answer, the handshake tells why.
  session.catch(() => undefined);
  await next(socket, 'secureConnect', signal);
  if (socket.getProtocol() !== 'TLSv1.3') return;
  socket.resume();
  const { promise: silence, resolve } = Promise.withResolvers<void>();
  const cancel = deps.after(OBJECTION_MS, resolve);
  await Promise.race([session, silence]).finally(cancel);
}

/** Rejects when the socket fails or ends first. */
function next(socket: Duplex, event: 'connect' | 'secureConnect' | 'session', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', abort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const abort = () => {
      settle(signal.reason);
      socket.destroy();
    };
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    socket.once(event, () => settle());
    socket.on('error', settle);
    socket.on('close', () => settle(new Error('closed before it was open')));
  });
}
