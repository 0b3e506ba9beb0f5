// One POST → the status of its answer; and one connection without a request, to see whether a POST could be made.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Deps } from '../../src/time.ts';
import type { Answer } from './status-outcome.ts';

/** Of an answer's body no more is read, and no longer; nothing in it matters. */
const DRAIN_BYTES = 64 * 1024;
const DRAIN_MS = 1000;
/** Shorter than servers keep an idle connection (5 s with node, more elsewhere), so that hardly ever a request meets one just closed. */
const IDLE_MS = 4000;

/** A keep-alive agent of our own: the environment's proxy settings reach the global one alone. */
export function createAgent(url: URL, sockets: number): Agent {
  const options = { keepAlive: true, maxSockets: sockets, maxFreeSockets: sockets, timeout: IDLE_MS };
  return url.protocol === 'https:'
    ? new (process.getBuiltinModule('node:https').Agent)(options)
    : new (process.getBuiltinModule('node:http').Agent)(options);
}

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array;
  readonly agent: Agent;
  readonly lookup: LookupFunction;
}

/**
 * Rejects with the signal's reason, or with what node throws. Once the status is known it decides, whatever becomes of the body:
 * that is read to a bound, so that the connection can be used again, and else cut off together with it.
 */
export function post(request: PostRequest, deps: Pick<Deps, 'after'>, signal: AbortSignal): Promise<Answer> {
  const { request: open } = process.getBuiltinModule(request.url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const { agent, lookup, headers } = request;
    const outgoing = open(request.url, { method: 'POST', agent, lookup, headers });
    const abort = () => fail(signal.reason);
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', abort);
      reject(error);
      outgoing.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    outgoing.on('error', fail);
    outgoing.on('upgrade', ({ statusCode = 101 }, socket) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      resolve({ status: statusCode, retryAfter: undefined });
    });
    outgoing.on('response', (incoming) => {
      signal.removeEventListener('abort', abort);
      // A reset from here on must not undo the status.
      outgoing.off('error', fail);
      outgoing.on('error', () => {});
      const answer = { status: incoming.statusCode ?? 0, retryAfter: incoming.headers['retry-after'] };
      drain(outgoing, incoming, deps, signal, () => resolve(answer));
    });
    outgoing.end(request.body);
  });
}

function drain(outgoing: ClientRequest, incoming: IncomingMessage, deps: Pick<Deps, 'after'>, signal: AbortSignal, done: () => void): void {
  let bytes = 0;
  const finish = () => {
    cancel();
    signal.removeEventListener('abort', cut);
    done();
  };
  const cut = () => {
    outgoing.destroy();
    finish();
  };
  const cancel = deps.after(DRAIN_MS, cut);
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) cut();
  });
  incoming.on('error', finish);
  incoming.on('close', finish);
  incoming.on('end', finish);
  if (signal.aborted) cut();
  else signal.addEventListener('abort', cut, { once: true });
}

/** Opens a connection as a POST would, TLS included, and closes it without having sent a byte of HTTP. */
export function touch(url: URL, lookup: LookupFunction, signal: AbortSignal): Promise<void> {
  const secure = url.protocol === 'https:';
  const host = hostOf(url);
  const port = Number(url.port || (secure ? 443 : 80));
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = secure
      ? process.getBuiltinModule('node:tls').connect({ host, port, lookup, servername: serverNameOf(host), ALPNProtocols: ['http/1.1'] })
      : process.getBuiltinModule('node:net').connect({ host, port, lookup });
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const abort = () => settle(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    socket.on('error', settle);
    socket.on('close', () => settle(new Error('closed before it was open')));
    socket.once(secure ? 'secureConnect' : 'connect', () => settle());
  });
}

/** The host as connections want it: an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** TLS names no addresses (RFC 6066, section 3). */
function serverNameOf(host: string): string {
  return process.getBuiltinModule('node:net').isIP(host) === 0 ? host : '';
}
