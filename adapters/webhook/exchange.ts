// One request → the status and the headers of its answer.
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Deps } from '../../src/time/clock.ts';
import type { Answer } from './status-outcome.ts';

/** Of an answer's body no more is read, and no longer; nothing in it matters. */
const DRAIN_BYTES = 64 * 1024;
const DRAIN_MS = 1000;
/** Headers of an answer that are longer than this are no answer. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** So many interim answers (100, 102, 103 …) are more than any receiver needs. */
const MOST_INTERIM = 32;

/** Who every request says it is from, unless the configured headers say otherwise. */
export const USER_AGENT = 'scheduled-events-bridge';

/** What a request hands to its connection, besides what node knows: it ends one that is still being made. */
export interface RequestExtras {
  readonly until: AbortSignal;
}

export interface Request {
  readonly method: 'POST' | 'OPTIONS';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Null for none. */
  readonly body: Uint8Array | null;
  readonly agent: Agent;
  readonly lookup: LookupFunction;
}

export interface Reply extends Answer {
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
}

/**
 * Rejects with the signal's reason, or with what node throws. Once the status is known it decides, whatever becomes of the body:
 * that is read to a bound, so that the connection can be used again, and else cut off together with it.
 */
export function send(request: Request, deps: Pick<Deps, 'after'>, signal: AbortSignal): Promise<Reply> {
  const { request: open } = process.getBuiltinModule(request.url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const { method, agent, lookup, headers } = request;
    const options: RequestOptions & RequestExtras = {
      method,
      agent,
      lookup,
      headers,
      maxHeaderSize: MAX_HEADER_BYTES,
      until: signal,
    };
    const outgoing = open(request.url, options);
    let interim = 0;
    const abort = () => fail(signal.reason);
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', abort);
      reject(error);
      outgoing.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    outgoing.on('error', fail);
    outgoing.on('information', () => {
      interim += 1;
      if (interim > MOST_INTERIM) fail(new Error(`more than ${MOST_INTERIM} interim answers`));
    });
    outgoing.on('upgrade', ({ statusCode = 101 }, socket) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      resolve({ status: statusCode, retryAfter: undefined, headers: {} });
    });
    outgoing.on('response', (incoming) => {
      signal.removeEventListener('abort', abort);
      // A reset from here on must not undo the status.
      outgoing.off('error', fail);
      outgoing.on('error', () => {});
      const answer = { status: incoming.statusCode ?? 0, retryAfter: incoming.headers['retry-after'], headers: incoming.headers };
      drain(outgoing, incoming, deps, signal, () => resolve(answer));
    });
    outgoing.end(request.body ?? undefined);
  });
}

function drain(outgoing: ClientRequest, incoming: IncomingMessage, deps: Pick<Deps, 'after'>, signal: AbortSignal, done: () => void): void {
  let bytes = 0;
  const finish = () => {
    cancel();
    signal.removeEventListener('abort', cut);
    // A receiver that answers and does not read on must not keep the rest of the request waiting.
    if (!outgoing.writableFinished) outgoing.destroy();
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

/** The host as connections want it: an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** TLS names no addresses, and no dot at the end (RFC 6066, section 3). */
export function serverNameOf(host: string): string {
  return process.getBuiltinModule('node:net').isIP(host) === 0 ? host.replace(/\.$/, '') : '';
}
