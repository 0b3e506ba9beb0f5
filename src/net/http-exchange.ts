// One HTTP request → its answer: bounded, without the environment's proxies, no redirect.
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { codeOf } from '../errors.ts';

/** An answer with longer headers is rejected. */
const MAX_HEADER_BYTES = 16 * 1024;
/** More interim answers (100, 102, 103 …) than any client needs. */
const MOST_INTERIM = 32;

export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  readonly url: string | URL;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Null sends no body. */
  readonly body?: string | Uint8Array | null | undefined;
  /** Keeps connections. Without it, the request opens its own connection. */
  readonly agent?: Agent | undefined;
  /** Replaces the machine's lookup, so that addresses are checked. */
  readonly lookup?: LookupFunction | undefined;
  /** For a connection that is opened for this request. */
  readonly tls?: Pick<ConnectionOptions, 'servername' | 'secureContext' | 'rejectUnauthorized'> | undefined;
  /** An open connection to use. */
  readonly socket?: Duplex | undefined;
  /** `url` parsed by `urlToHttpOptions`, for callers that request the same URL repeatedly. */
  readonly target?: RequestOptions | undefined;
  /** Starts a time limit. `pass` rejects the request with its reason; the returned function ends the limit. */
  readonly limit?: ((pass: (reason: unknown) => void) => () => void) | undefined;
  /** Resolves at the status line: later aborts, time-outs and connection errors are ignored. */
  readonly statusDecides?: boolean | undefined;
  /**
   * Sends the request again if its kept connection turns out to be closed before any answer. For requests that may
   * arrive twice.
   */
  readonly retryStale?: boolean | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Null if it is longer than allowed, or if the connection broke off during the body of a failure. */
  readonly body: Buffer | null;
}

/** An extra option for the agent: it aborts a connection that is not open yet. */
export interface RequestExtras {
  readonly until: AbortSignal;
}

/** The server switched the protocol, although the request did not ask for it. */
export class UnexpectedUpgrade extends Error {
  readonly status: number;

  constructor(status: number) {
    super('a protocol switch without a request for it');
    this.status = status;
  }
}

/**
 * Returns the complete answer. If the body of a failure breaks off, it is null. Rejects at once with the signal's
 * reason, or with Node's error.
 */
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

/**
 * Returns the result of `receive`, which gets the answer after its head. Rejects at once with the signal's reason,
 * Node's error or that of `receive`.
 */
export function sendRequest<T>(
  request: HttpRequest,
  signal: AbortSignal,
  receive: (incoming: IncomingMessage, outgoing: ClientRequest) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const outgoing = open(request, signal);
    const cleanUp = () => {
      endLimit?.();
      signal.removeEventListener('abort', abort);
    };
    const fail = (error: unknown) => {
      cleanUp();
      reject(error);
      outgoing.off('error', failUnanswered).on('error', () => {});
      outgoing.destroy();
    };
    const abort = () => fail(signal.reason);
    const failUnanswered = (error: unknown) => {
      if (!(request.retryStale && outgoing.reusedSocket && isReset(error))) return fail(error);
      cleanUp();
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
      fail(new UnexpectedUpgrade(statusCode));
    });
    outgoing.on('response', (incoming) => {
      if (request.statusDecides) cleanUp();
      outgoing.off('error', failUnanswered).on('error', request.statusDecides ? () => {} : fail);
      receive(incoming, outgoing).then((value) => {
        cleanUp();
        resolve(value);
      }, fail);
    });
    outgoing.end(request.body ?? undefined);
  });
}

/**
 * Returns the body, or null if it is longer than `maxBytes`; it then closes the connection. Rejects if the body breaks
 * off. Call it at once.
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

/** Returns the host for a connection: an IPv6 address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Returns the TLS server name: empty for an address, without a dot at the end (RFC 6066, section 3). */
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
