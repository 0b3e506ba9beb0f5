// One HTTP request → its answer: bounded, past proxies of the environment, no redirect.
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { codeOf } from '../errors.ts';

/** Longer headers are no answer. */
const MAX_HEADER_BYTES = 16 * 1024;
/** More interim answers (100, 102, 103 …) than any client needs. */
const MOST_INTERIM = 32;

export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Null for none. */
  readonly body?: string | Uint8Array | null | undefined;
  /** Keeps connections; without one, a connection is made for this request alone. */
  readonly agent?: Agent | undefined;
  /** In place of the machine's, for addresses that are checked. */
  readonly lookup?: LookupFunction | undefined;
  /** Of a connection that is made for this request. */
  readonly tls?: Pick<ConnectionOptions, 'servername' | 'secureContext' | 'rejectUnauthorized'> | undefined;
  /** An open connection to use. */
  readonly socket?: Duplex | undefined;
  /** `url` taken apart by `urlToHttpOptions`, by those who ask for the same one again and again. */
  readonly target?: RequestOptions | undefined;
  /** Sets a time limit, which rejects with what it passes on; what it returns ends the limit. */
  readonly limit?: ((pass: (reason: unknown) => void) => () => void) | undefined;
  /** Once the status is there it stands: neither signal and limit nor what becomes of the connection undo it. */
  readonly statusDecides?: boolean | undefined;
  /** Sends the request again if its kept connection turns out to be closed before any answer. For requests that may arrive twice. */
  readonly retryStale?: boolean | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Null where it is longer than allowed, or that of a failure broke off. */
  readonly body: Buffer | null;
}

/** What a request hands to its agent, besides what Node knows: it ends a connection that is still being made. */
export interface RequestExtras {
  readonly until: AbortSignal;
}

/** The other side changed the protocol, for which nobody asked. */
export class UnaskedUpgrade extends Error {
  readonly status: number;

  constructor(status: number) {
    super('an upgrade that nobody asked for');
    this.status = status;
  }
}

/** The whole answer; what a failure says may break off, its body is null then. Rejects at once with the signal's reason, or with what Node throws. */
export function exchange(request: HttpRequest, maxBodyBytes: number, signal: AbortSignal): Promise<HttpAnswer> {
  return sendRequest(request, signal, async (incoming) => {
    const { statusCode: status = 0, headers } = incoming;
    const body = await readBody(incoming, maxBodyBytes).catch((error: unknown) => {
      if (status >= 200 && status <= 299) throw error;
      return null;
    });
    return { status, headers, body };
  });
}

/** What `receive` makes of the answer, from its head on. Rejects at once with the signal's reason, with what Node throws, or what `receive` throws. */
export function sendRequest<T>(
  request: HttpRequest,
  signal: AbortSignal,
  receive: (incoming: IncomingMessage, outgoing: ClientRequest) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const outgoing = open(request, signal);
    const forget = () => {
      endLimit?.();
      signal.removeEventListener('abort', abort);
    };
    const fail = (error: unknown) => {
      forget();
      reject(error);
      outgoing.off('error', failUnanswered).on('error', () => {});
      outgoing.destroy();
    };
    const abort = () => fail(signal.reason);
    const failUnanswered = (error: unknown) => {
      if (!(request.retryStale && outgoing.reusedSocket && isReset(error))) return fail(error);
      forget();
      resolve(sendRequest(request, signal, receive));
    };
    const endLimit = request.limit?.(fail);
    signal.addEventListener('abort', abort);
    outgoing.on('error', failUnanswered);
    let interim = 0;
    outgoing.on('information', () => {
      interim += 1;
      if (interim > MOST_INTERIM) fail(new Error(`more than ${MOST_INTERIM} interim answers`));
    });
    // Without a listener a 101 would leave the request hanging.
    outgoing.on('upgrade', ({ statusCode = 101 }, socket) => {
      socket.destroy();
      fail(new UnaskedUpgrade(statusCode));
    });
    outgoing.on('response', (incoming) => {
      if (request.statusDecides) forget();
      outgoing.off('error', failUnanswered).on('error', request.statusDecides ? () => {} : fail);
      receive(incoming, outgoing).then((value) => {
        forget();
        resolve(value);
      }, fail);
    });
    outgoing.end(request.body ?? undefined);
  });
}

/**
 * The whole body, or null if it is longer than `maxBytes`; it is cut off then. Rejects if the body breaks off. Call it as the answer comes.
 * @param chunks is filled with the body as it arrives, for callers that use a part of it
 */
export function readBody(incoming: IncomingMessage, maxBytes: number, chunks: Buffer[] = []): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      resolve(null);
      incoming.destroy();
    });
    incoming.on('end', () => resolve(Buffer.concat(chunks)));
    incoming.on('error', reject);
  });
}

/** Whether the other side closed the connection: `ECONNRESET`, or `EPIPE` for what was still being sent. */
export function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
}

/** A host as connections want it: an IPv6 address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** TLS names no addresses, and no dot at the end (RFC 6066, section 3). */
export function serverNameOf(host: string): string {
  return process.getBuiltinModule('node:net').isIP(host) === 0 ? host.replace(/\.$/, '') : '';
}

/** `import http from 'node:http'` would load undici too: 11 MB. */
function open({ method, url, target, headers, agent, lookup, tls, socket }: HttpRequest, signal: AbortSignal) {
  const { request } = process.getBuiltinModule(String(url).startsWith('https:') ? 'node:https' : 'node:http');
  const options: RequestOptions & RequestExtras = {
    method,
    headers,
    maxHeaderSize: MAX_HEADER_BYTES,
    until: signal,
    // The global agent may have a proxy from the environment.
    ...(socket === undefined ? { agent: agent ?? false } : { createConnection: () => socket }),
    ...(lookup && { lookup }),
    ...tls,
  };
  return target === undefined ? request(url, options) : request({ ...target, ...options });
}
