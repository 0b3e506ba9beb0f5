// A URL and its connection options → requests to it, only to checked addresses.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import {
  exchange,
  type HttpAnswer,
  type HttpRequest,
  hostOf,
  sendRequest,
  UnexpectedUpgrade,
} from '../../src/net/http-exchange.ts';
import { type AddressGuard, checkedLookup, checkLiteral } from '../../src/net/private-addresses.ts';
import type { Deps } from '../../src/time/clock.ts';
import { type ConnectionOptions, type ConnectionParts, HttpConnections } from './connections.ts';
import { type AddressJudge, type Answer, targetGuard } from './failures.ts';
import { touch } from './touch.ts';

/** The default `user-agent` of every request. */
export const USER_AGENT = 'scheduled-events-bridge';

export interface EndpointParts extends Omit<ConnectionParts, 'lookup'> {
  readonly judge: AddressJudge;
}

export interface EndpointRequest extends Pick<HttpRequest, 'method' | 'headers' | 'body'> {
  /** Appended to the path of the url: `/_bulk`. A query replaces that of the url. */
  readonly path?: string | undefined;
}

/** Connects at the first request. */
export class Endpoint {
  readonly #parts: EndpointParts;
  readonly #guard: AddressGuard;
  readonly #lookup: LookupFunction;
  readonly #connections: HttpConnections;

  /** The secrets must be open. */
  constructor(options: ConnectionOptions, parts: EndpointParts) {
    this.#parts = parts;
    this.#guard = targetGuard(parts.place, parts.judge);
    this.#lookup = checkedLookup(this.#guard, parts.resolve);
    this.#connections = new HttpConnections(options, { ...parts, lookup: this.#lookup });
  }

  /**
   * Checks a host that is a literal address; the addresses of a name are checked at look-up.
   * @throws BridgeError if the address is forbidden
   */
  checkAddress(): void {
    checkLiteral(this.#guard, hostOf(this.#parts.url));
  }

  /** Resolves with the status and headers of the answer, regardless of the body. Rejects like `requestStatus`. */
  async send(request: EndpointRequest, signal: AbortSignal): Promise<Answer> {
    return await requestStatus(this.#request(request), this.#parts.deps, signal);
  }

  /** Resolves with the whole answer. Rejects like `exchange` of src/net. */
  async exchange(request: EndpointRequest, maxBodyBytes: number, signal: AbortSignal): Promise<HttpAnswer> {
    return await exchange(this.#request(request), maxBodyBytes, signal);
  }

  /** Connects like a request, including TLS, and sends nothing. Rejects like `exchange`. */
  async touch(signal: AbortSignal): Promise<void> {
    await touch(this.#connections.agent(), { ...this.#parts, lookup: this.#lookup }, signal);
  }

  close(): void {
    this.#connections.close();
  }

  #request({ path, ...request }: EndpointRequest): HttpRequest {
    this.checkAddress();
    const { url } = this.#parts;
    return {
      ...request,
      url: path === undefined ? url : below(url, path),
      agent: this.#connections.agent(),
      lookup: this.#lookup,
    };
  }
}

function below(url: URL, path: string): URL {
  const [, name = '', query] = /^([^?]*)(\?.*)?$/s.exec(path) ?? [];
  const whole = new URL(url);
  whole.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}${name}`;
  if (query !== undefined) whole.search = query;
  return whole;
}

/** Limits for reading the body of an answer, which is discarded. */
const DRAIN_BYTES = 64 * 1024;
const DRAIN_MS = 1000;

/**
 * Resolves with the status and headers. Later errors are ignored: the body is read up to a limit, so that the
 * connection can be reused, and otherwise the connection is closed. Rejects with the signal's reason, or with what Node
 * throws.
 */
async function requestStatus(request: HttpRequest, deps: Pick<Deps, 'after'>, signal: AbortSignal): Promise<Answer> {
  try {
    return await sendRequest({ ...request, statusDecides: true }, signal, async (incoming, outgoing) => {
      const { statusCode = 0, headers } = incoming;
      await drain(incoming, outgoing, deps, signal);
      return { status: statusCode, headers };
    });
  } catch (error) {
    if (error instanceof UnexpectedUpgrade) return { status: error.status, headers: {} };
    throw error;
  }
}

function drain(
  incoming: IncomingMessage,
  outgoing: ClientRequest,
  deps: Pick<Deps, 'after'>,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => {
    cancel();
    signal.removeEventListener('abort', cut);
    // A receiver that answers early and stops reading would block the rest of the request.
    if (!outgoing.writableFinished) outgoing.destroy();
    resolve();
  };
  const cut = () => {
    outgoing.destroy();
    finish();
  };
  const cancel = deps.after(DRAIN_MS, cut);
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) cut();
  });
  for (const event of ['error', 'close', 'end']) incoming.on(event, finish);
  if (signal.aborted) cut();
  else signal.addEventListener('abort', cut, { once: true });
  return promise;
}
