// A URL that a sink asks, and how it is reached → requests to it, to checked addresses alone.
import type { LookupFunction } from 'node:net';
import { type AddressGuard, checkedLookup, checkLiteral, type Resolve } from '../../src/net/checked-lookup.ts';
import { exchange, type HttpAnswer, type HttpRequest, hostOf } from '../../src/net/http-exchange.ts';
import type { AdapterDeps } from '../adapter.ts';
import { type Answer, requestStatus } from './answer.ts';
import { type ConnectionOptions, Connections } from './connections.ts';
import type { HttpPlace } from './failures.ts';
import { type AddressJudge, targetGuard } from './target-guard.ts';

/** Who every request says it is from, unless the configured headers say otherwise. */
export const USER_AGENT = 'scheduled-events-bridge';

export interface EndpointParts {
  readonly url: URL;
  readonly place: HttpPlace;
  readonly judge: AddressJudge;
  /** At once. */
  readonly sockets: number;
  readonly deps: AdapterDeps;
  /** Answers name look-ups instead of the system. */
  readonly resolve?: Resolve | undefined;
}

export interface EndpointRequest extends Pick<HttpRequest, 'method' | 'headers' | 'body'> {
  /** Goes behind the path of the url: `/_bulk`; with a query, it takes the place of the url's. */
  readonly path?: string | undefined;
}

/** Connects at the first request. */
export class Endpoint {
  readonly #parts: EndpointParts;
  readonly #guard: AddressGuard;
  readonly #lookup: LookupFunction;
  readonly #connections: Connections;

  /** The secrets are open. */
  constructor(options: ConnectionOptions, parts: EndpointParts) {
    this.#parts = parts;
    this.#guard = targetGuard(parts.place, parts.judge);
    this.#lookup = checkedLookup(this.#guard, parts.resolve);
    this.#connections = new Connections(options, { ...parts, lookup: this.#lookup });
  }

  /** For a URL whose host is an address; that of a name is checked as it is looked up. @throws BridgeError where it may not be reached */
  checkAddress(): void {
    checkLiteral(this.#guard, hostOf(this.#parts.url));
  }

  /** The status of the answer, which decides whatever becomes of the body. Rejects as `requestStatus`. */
  async send(request: EndpointRequest, signal: AbortSignal): Promise<Answer> {
    return await requestStatus(this.#request(request), this.#parts.deps, signal);
  }

  /** The whole answer. Rejects as `exchange`. */
  async exchange(request: EndpointRequest, maxBodyBytes: number, signal: AbortSignal): Promise<HttpAnswer> {
    return await exchange(this.#request(request), maxBodyBytes, signal);
  }

  /** Connects as a request would, TLS included, and sends none. Rejects as `exchange`. */
  async touch(signal: AbortSignal): Promise<void> {
    await this.#connections.touch(signal);
  }

  /** Ends idle connections. */
  close(): void {
    this.#connections.close();
  }

  #request({ path, ...request }: EndpointRequest): HttpRequest {
    this.checkAddress();
    const { url } = this.#parts;
    return { ...request, url: path === undefined ? url : below(url, path), agent: this.#connections.agent(), lookup: this.#lookup };
  }
}

function below(url: URL, path: string): URL {
  const [, name = '', query] = /^([^?]*)(\?.*)?$/s.exec(path) ?? [];
  const whole = new URL(url);
  whole.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}${name}`;
  if (query !== undefined) whole.search = query;
  return whole;
}
