// A sink's HTTP options → its requests with a time limit, and their results.
import { formatDuration } from '../../src/formats/durations.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import { addressJudge, type Resolve } from '../../src/net/private-addresses.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { deadline } from '../../src/time/clock.ts';
import type { AdapterDeps } from '../adapter.ts';
import { headerValue, RenewedSecrets, type RequestAuthorization } from './authorization.ts';
import { Endpoint, type EndpointRequest, USER_AGENT } from './endpoint.ts';
import { type Answer, type HttpPlace, networkFault, SINK_CODES, statusFault, timeoutFault, whoOf } from './failures.ts';
import { type HttpTarget, type HttpTargetOptions, urlOf } from './http-options.ts';
import { oauthAuthorization } from './oauth/client-credentials.ts';

export interface HttpClientParts extends Pick<HttpPlace, 'statuses'> {
  readonly target: HttpTarget;
  /** Maximum number of parallel requests. */
  readonly inFlight: number;
  readonly deps: AdapterDeps;
  /** Replaces `oauth2`. */
  readonly authorization?: RequestAuthorization | undefined;
  /** The keys of the credentials, for messages; `headers or oauth2` by default. */
  readonly credentials?: string | undefined;
  /** Resolves names instead of the system. */
  readonly resolve?: Resolve | undefined;
}

/** Connects at the first request. Follows no redirect, uses no proxy of the environment, and retries nothing. */
export class HttpClient {
  readonly #place: HttpPlace;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #renewed: RenewedSecrets<Readonly<Record<string, string>>>;
  readonly #timeoutMs: number;
  readonly #deps: AdapterDeps;
  readonly #endpoint: Endpoint;
  readonly #authorization: RequestAuthorization;

  constructor(options: HttpTargetOptions, given: HttpClientParts) {
    const { target, inFlight, deps, credentials = 'headers or oauth2', statuses, resolve } = given;
    const { url, headers } = target;
    const judge = addressJudge(options.allowPrivate);
    this.#place = {
      codes: SINK_CODES,
      sink: deps.name,
      target: url.origin,
      key: urlOf(options).key,
      credentials,
      statuses,
    };
    this.#headers = { 'user-agent': USER_AGENT, ...headers };
    this.#renewed = renewedHeaders(options.headers, deps);
    this.#timeoutMs = options.timeout;
    this.#deps = deps;
    const parts = { place: this.#place, judge, deps, resolve };
    this.#endpoint = new Endpoint(options, { ...parts, url, sockets: inFlight });
    this.#authorization = given.authorization ?? oauthAuthorization(options, parts);
  }

  /** The name of the sink and its target for messages: only scheme and host of the URL. */
  get who(): string {
    return whoOf(this.#place);
  }

  /** For a kind's own faults. */
  get place(): HttpPlace {
    return this.#place;
  }

  /** Runs `work` with the time limit of one request. @throws BridgeError with a remedy, or the signal's reason */
  async attempt<T>(signal: AbortSignal, work: (limited: AbortSignal) => Promise<T>): Promise<T> {
    using limit = deadline(
      this.#deps,
      this.#timeoutMs,
      () => timeoutFault(this.#place, formatDuration(this.#timeoutMs)),
      signal,
    );
    try {
      this.#endpoint.checkAddress();
      return await work(limit.signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : networkFault(error, this.#place);
    }
  }

  /**
   * Returns the header `authorization` of `oauth2`, if configured. Call it before `send` and `exchange`, because it may
   * request a token.
   */
  async authorization(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const header = await this.#authorization.header(signal);
    return header === null ? {} : { authorization: header };
  }

  /**
   * Sends a request with the given and the configured headers. Resolves with the status, regardless of the body. Call
   * it inside `attempt`.
   */
  async send(request: EndpointRequest, signal: AbortSignal): Promise<Answer> {
    const answer = await this.#endpoint.send(this.#complete(request), signal);
    this.#dropIfRejected(answer.status, request);
    return answer;
  }

  /** Like `send`, but also resolves with the body, or null if it is longer than `maxBodyBytes`. */
  async exchange(request: EndpointRequest, maxBodyBytes: number, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await this.#endpoint.exchange(this.#complete(request), maxBodyBytes, signal);
    this.#dropIfRejected(answer.status, request);
    return answer;
  }

  /** @throws BridgeError unless the status is a success */
  accept(answer: Answer): void {
    const fault = statusFault(answer, this.#place, this.#deps.wallMs());
    if (fault !== null) throw fault;
  }

  /** Connects, including TLS, gets a token if `oauth2` is configured, and sends nothing. Call it inside `attempt`. */
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

  #complete(request: EndpointRequest): EndpointRequest {
    return { ...request, headers: { ...this.#headers, ...this.#renewed.current(), ...request.headers } };
  }

  #dropIfRejected(status: number, { headers }: EndpointRequest): void {
    const { authorization } = headers;
    if (status === 401 && typeof authorization === 'string') this.#authorization.refused(authorization);
  }
}

/** Returns the headers with values from files, which may change. */
function renewedHeaders(
  headers: HttpTargetOptions['headers'],
  deps: AdapterDeps,
): RenewedSecrets<Readonly<Record<string, string>>> {
  const secrets = Object.entries(headers).flatMap(([name, value]) =>
    value instanceof Secret && value.file !== null ? [[name, value] as const] : [],
  );
  const named = secrets.map(([name, secret]) => [`headers.${name}`, secret] as const);
  return new RenewedSecrets(
    named,
    (values) =>
      Object.fromEntries(secrets.map(([name], index) => [name.toLowerCase(), headerValue(values[index] ?? '')])),
    deps,
  );
}
