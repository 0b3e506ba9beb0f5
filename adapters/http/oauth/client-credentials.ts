// A sink's `oauth2` → the `Authorization` of its requests, cached until it expires.
import { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import type { Instant } from '../../../src/model/events.ts';
import { reveal } from '../../../src/secrets/secret.ts';
import { type Deps, deadline, now } from '../../../src/time/clock.ts';
import { noAuthorization, type RequestAuthorization } from '../authorization.ts';
import type { ConnectionOptions } from '../connections.ts';
import { DropLimit, largerAgeMs } from '../drop-limit.ts';
import { Endpoint, type EndpointParts, USER_AGENT } from '../endpoint.ts';
import { type HttpPlace, networkFault, whoOf } from '../failures.ts';
import type { OAuthOptions } from './oauth-options.ts';
import { LONGEST_TOKEN_ANSWER, readToken, unavailable } from './token-answer.ts';

interface AuthorizationParts {
  readonly oauth2: NonNullable<OAuthOptions['oauth2']>;
  readonly endpoint: Endpoint;
  readonly place: HttpPlace;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;
  /** For one token request. */
  readonly timeoutMs: number;
}

/**
 * Returns the authorization of a sink. The token endpoint uses the sink's proxy and authorities, but no client
 * certificate.
 */
export function oauthAuthorization(
  { oauth2, tls, proxy, timeout }: OAuthOptions & ConnectionOptions & { readonly timeout: number },
  sink: Omit<EndpointParts, 'url' | 'sockets'>,
): RequestAuthorization {
  if (oauth2 === undefined) return noAuthorization;
  const url = new URL(oauth2.tokenUrl);
  const place = { ...sink.place, target: `the token endpoint ${url.origin}`, key: 'oauth2.tokenUrl' };
  const reach = { ...(tls?.ca && { tls: { ca: tls.ca } }), ...(proxy !== undefined && { proxy }) };
  const endpoint = new Endpoint(reach, { ...sink, url, place, sockets: 1 });
  return new ClientCredentials({ oauth2, endpoint, place, deps: sink.deps, timeoutMs: timeout });
}

/** A token is renewed this long before it expires, or a tenth of its lifetime if that is less. */
const MARGIN_MS = 60_000;

interface CachedToken {
  readonly header: string;
  readonly since: Instant;
  readonly renewAfterMs: number;
}

interface PendingToken {
  readonly answer: Promise<CachedToken>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Sends one token request at a time, for all callers. Aborts it when no caller waits any more. Sends the first request
 * at first use.
 */
class ClientCredentials implements RequestAuthorization {
  readonly #parts: AuthorizationParts;
  #cached: CachedToken | null = null;
  #pending: PendingToken | null = null;
  readonly #drops: DropLimit;

  constructor(parts: AuthorizationParts) {
    this.#parts = parts;
    this.#drops = new DropLimit(parts.deps);
  }

  async header(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.#cached !== null && largerAgeMs(this.#cached.since, this.#parts.deps) < this.#cached.renewAfterMs)
      return this.#cached.header;
    this.#pending ??= this.#start();
    return (await this.#join(this.#pending, signal)).header;
  }

  refused(header: string): void {
    if (this.#cached?.header === header && this.#drops.take()) this.#cached = null;
  }

  close(): void {
    this.#parts.endpoint.close();
  }

  #start(): PendingToken {
    const { deps, timeoutMs } = this.#parts;
    const controller = new AbortController();
    const limit = deadline(deps, timeoutMs, () => this.#timeout(), controller.signal);
    const answer = this.#request(limit.signal).finally(() => {
      limit.cancel();
      if (this.#pending === pending) this.#pending = null;
    });
    // The callers in `#join` get the rejection; there may be none left.
    answer.catch(() => undefined);
    const pending: PendingToken = { answer, controller, waiting: 0 };
    return pending;
  }

  async #join(pending: PendingToken, signal: AbortSignal): Promise<CachedToken> {
    pending.waiting += 1;
    const { promise: left, reject: leave } = Promise.withResolvers<never>();
    // The time-out of the attempt would name the receiver, which has not been asked yet.
    const abort = () => leave(signal.reason instanceof BridgeError ? this.#timeout() : signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([pending.answer, left]);
    } finally {
      signal.removeEventListener('abort', abort);
      pending.waiting -= 1;
      if (pending.waiting === 0 && this.#pending === pending) {
        this.#pending = null;
        pending.controller.abort();
      }
    }
  }

  async #request(signal: AbortSignal): Promise<CachedToken> {
    const { endpoint, place, deps } = this.#parts;
    const since = now(deps);
    const answer = await endpoint
      .exchange({ method: 'POST', ...this.#form() }, LONGEST_TOKEN_ANSWER, signal)
      .catch((error: unknown) => {
        throw signal.aborted && error === signal.reason ? error : ofWholeSink(networkFault(error, place));
      });
    const read = readToken(answer, place, deps.wallMs());
    if (read instanceof BridgeError) throw read;
    const renewAfterMs = read.lifetimeMs - Math.min(MARGIN_MS, read.lifetimeMs / 10);
    this.#cached = { header: `Bearer ${read.token}`, since, renewAfterMs };
    return this.#cached;
  }

  #form(): { readonly headers: Readonly<Record<string, string | number>>; readonly body: Uint8Array } {
    const { clientId, clientSecret, scope, audience, clientAuth } = this.#parts.oauth2;
    const id = reveal(clientId);
    const isBasic = clientAuth === 'basic';
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope !== undefined && { scope }),
      ...(audience !== undefined && { audience }),
      ...(!isBasic && { client_id: id, client_secret: clientSecret.reveal() }),
    });
    const body = Buffer.from(form.toString());
    const headers = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.byteLength,
      'user-agent': USER_AGENT,
      ...(isBasic && { authorization: basic(id, clientSecret.reveal()) }),
    };
    return { headers, body };
  }

  #timeout(): BridgeError {
    const { place, timeoutMs } = this.#parts;
    const message = `${whoOf(place)} gave no token within ${formatDuration(timeoutMs)}: check it, or raise timeout`;
    return unavailable(place, message, { status: 'timeout' });
  }
}

/** Returns the header; both parts are form-encoded first (RFC 6749, section 2.3.1). */
function basic(id: string, secret: string): string {
  const [user, password] = [id, secret].map((text) => new URLSearchParams({ '': text }).toString().slice(1));
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function ofWholeSink(error: BridgeError): BridgeError {
  const { code, message, disposition = 'retry', status, cause } = error;
  return new BridgeError(code, message, { disposition, scope: 'sink', cause, status });
}
