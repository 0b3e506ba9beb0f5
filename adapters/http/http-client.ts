// A sink's HTTP options → its requests, under a time limit, and what became of them.
import { formatDuration } from '../../src/formats/durations.ts';
import type { Resolve } from '../../src/net/checked-lookup.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import { addressJudge } from '../../src/net/private-addresses.ts';
import { deadline } from '../../src/time/clock.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { Answer } from './answer.ts';
import { Endpoint, type EndpointRequest, USER_AGENT } from './endpoint.ts';
import { type HttpCodes, type HttpPlace, whoOf } from './failures.ts';
import type { HttpOptions, HttpTarget } from './http-options.ts';
import { networkFault, timeoutFault } from './network-fault.ts';
import { type Authorization, authorizationOf } from './oauth/client-credentials.ts';
import { statusFault } from './status-fault.ts';

export interface HttpClientParts {
  readonly codes: HttpCodes;
  readonly target: HttpTarget;
  /** Requests at once. */
  readonly inFlight: number;
  readonly deps: AdapterDeps;
  /** Answers name look-ups instead of the system. */
  readonly resolve?: Resolve | undefined;
}

/** Connects at the first request; follows no redirect, asks no proxy of the environment, retries nothing. */
export class HttpClient {
  readonly #place: HttpPlace;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #deps: AdapterDeps;
  readonly #endpoint: Endpoint;
  readonly #authorization: Authorization;

  constructor(options: HttpOptions, { codes, target, inFlight, deps, resolve }: HttpClientParts) {
    const { url, headers } = target;
    const judge = addressJudge(options.allowPrivate);
    this.#place = { codes, sink: deps.name, target: url.origin, key: 'url', credentials: 'headers or oauth2' };
    this.#headers = { 'user-agent': USER_AGENT, ...headers };
    this.#timeoutMs = options.timeout;
    this.#deps = deps;
    const parts = { place: this.#place, judge, deps, resolve };
    this.#endpoint = new Endpoint(options, { ...parts, url, sockets: inFlight });
    this.#authorization = authorizationOf(options, parts);
  }

  /** How messages name the sink and its target: never more of the URL than scheme and host. */
  get who(): string {
    return whoOf(this.#place);
  }

  /** Runs `work` under the time limit of one request. @throws BridgeError with what to do, or the signal's reason */
  async attempt<T>(signal: AbortSignal, work: (limited: AbortSignal) => Promise<T>): Promise<T> {
    const limit = deadline(this.#deps, this.#timeoutMs, () => timeoutFault(this.#place, formatDuration(this.#timeoutMs)), signal);
    try {
      this.#endpoint.checkAddress();
      return await work(limit.signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : networkFault(error, this.#place);
    } finally {
      limit.cancel();
    }
  }

  /** The header `authorization` where there is `oauth2`, for `send` and `exchange`: get it first, as it may have to be asked for. */
  async authorization(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const header = await this.#authorization.header(signal);
    return header === null ? {} : { authorization: header };
  }

  /** Sends, the configured headers beside those given; the status decides, whatever becomes of the body. Inside `attempt`. */
  async send(request: EndpointRequest, signal: AbortSignal): Promise<Answer> {
    const answer = await this.#endpoint.send({ ...request, headers: { ...this.#headers, ...request.headers } }, signal);
    this.#see(answer.status, request);
    return answer;
  }

  /** The same, for receivers that say in the body what became of each member; it is null where it is longer. */
  async exchange(request: EndpointRequest, maxBodyBytes: number, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await this.#endpoint.exchange({ ...request, headers: { ...this.#headers, ...request.headers } }, maxBodyBytes, signal);
    this.#see(answer.status, request);
    return answer;
  }

  /** @throws BridgeError unless the status is a success */
  accept(answer: Answer): void {
    const fault = statusFault(answer, this.#place, this.#deps.wallMs());
    if (fault !== null) throw fault;
  }

  /** Could a request be made? Connects, TLS included, gets a token where there is `oauth2`, and sends nothing. Inside `attempt`. */
  async touch(signal: AbortSignal): Promise<null> {
    await this.#endpoint.touch(signal);
    await this.#authorization.header(signal);
    return null;
  }

  /** Ends idle connections. */
  close(): void {
    this.#authorization.close();
    this.#endpoint.close();
  }

  /** A token that is refused is asked for anew. */
  #see(status: number, { headers }: EndpointRequest): void {
    const { authorization } = headers;
    if (status === 401 && typeof authorization === 'string') this.#authorization.refused(authorization);
  }
}
