// Who sends → the `Authorization` of a request: none of ours, or a bearer token by OAuth 2.0 client credentials, kept until shortly before it ends.
import type { LookupFunction } from 'node:net';
import { BridgeError } from '../../../src/errors.ts';
import { formatDuration } from '../../../src/formats/durations.ts';
import type { Instant } from '../../../src/model/events.ts';
import { checkedLookup, checkLiteral, type Resolve } from '../../../src/net/checked-lookup.ts';
import { reveal } from '../../../src/secrets/secret.ts';
import { type Deps, deadline, now } from '../../../src/time/clock.ts';
import type { AdapterDeps } from '../../adapter.ts';
import type { ConnectionOptions } from '../connection-options.ts';
import { type Connections, configuredConnections } from '../connections.ts';
import { hostOf, USER_AGENT } from '../exchange.ts';
import { networkFault } from '../network-fault.ts';
import { type TargetGuard, targetGuard } from '../target-guard.ts';
import type { AuthorizationOptions } from './authorization-options.ts';
import { readToken, unavailable } from './token-answer.ts';
import { requestToken } from './token-request.ts';

export interface Authorization {
  /** Null where the configured headers say it all. @throws BridgeError, or the signal's reason, where no token can be had */
  header(signal: AbortSignal): Promise<string | null>;
  /** The receiver took this one for no good (401): the next one is a new one, once a minute at most. */
  refused(header: string): void;
  /** Ends idle connections. */
  close(): void;
}

/** Headers alone. */
const noAuthorization: Authorization = { header: () => Promise.resolve(null), refused: () => undefined, close: () => undefined };

interface AuthorizationParts {
  readonly oauth2: NonNullable<AuthorizationOptions['oauth2']>;
  /** To the token endpoint. */
  readonly connections: Connections;
  readonly guard: TargetGuard;
  readonly lookup: LookupFunction;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;
  /** For one request of a token. */
  readonly timeoutMs: number;
}

/** What a sink's `oauth2` says; the token endpoint is reached through its proxy and trusts its authorities, but is shown no certificate. */
export function authorizationOf(
  { oauth2, tls, proxy, timeout }: AuthorizationOptions & ConnectionOptions & { readonly timeout: number },
  { deps, judge, resolve }: { readonly deps: AdapterDeps; readonly judge: TargetGuard['judge']; readonly resolve?: Resolve | undefined },
): Authorization {
  if (oauth2 === undefined) return noAuthorization;
  const url = new URL(oauth2.tokenUrl);
  const guard = targetGuard({ sink: deps.name, origin: `the token endpoint ${url.origin}`, judge, key: 'oauth2.tokenUrl' });
  const lookup = checkedLookup(guard, resolve);
  const reach = { ...(tls?.ca && { tls: { ca: tls.ca } }), ...(proxy !== undefined && { proxy }) };
  const connections = configuredConnections(reach, { url, lookup, sockets: 1, deps, resolve });
  return new ClientCredentials({ oauth2, connections, guard, lookup, deps, timeoutMs: timeout });
}

/** A token is renewed so long before its end, or a tenth of its life if that is less. */
const MARGIN_MS = 60_000;
/** A receiver that refuses every token must not make us ask for one at each attempt. */
const LEAST_BETWEEN_DROPS_MS = 60_000;

interface Held {
  readonly header: string;
  readonly since: Instant;
  readonly renewAfterMs: number;
}

interface Asking {
  readonly answer: Promise<Held>;
  readonly controller: AbortController;
  waiting: number;
}

/** Asks for one token at a time, however many wait for it; a request that nobody waits for any more is ended. Asks at first use. */
class ClientCredentials implements Authorization {
  readonly #parts: AuthorizationParts;
  readonly #url: URL;
  readonly #who: string;
  #held: Held | null = null;
  #asking: Asking | null = null;
  #dropped: Instant | null = null;

  constructor(parts: AuthorizationParts) {
    this.#parts = parts;
    this.#url = new URL(parts.oauth2.tokenUrl);
    this.#who = `sink ${parts.guard.sink}: ${parts.guard.origin}`;
  }

  async header(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.#held !== null && this.#age(this.#held.since) < this.#held.renewAfterMs) return this.#held.header;
    this.#asking ??= this.#ask();
    return (await this.#join(this.#asking, signal)).header;
  }

  refused(header: string): void {
    const isTooSoon = this.#dropped !== null && this.#age(this.#dropped) < LEAST_BETWEEN_DROPS_MS;
    if (this.#held?.header !== header || isTooSoon) return;
    this.#held = null;
    this.#dropped = now(this.#parts.deps);
  }

  close(): void {
    this.#parts.connections.close();
  }

  #ask(): Asking {
    const { deps, timeoutMs } = this.#parts;
    const controller = new AbortController();
    const limit = deadline(deps, timeoutMs, () => this.#timeout(), controller.signal);
    const answer = this.#request(limit.signal).finally(() => {
      limit.cancel();
      if (this.#asking === asking) this.#asking = null;
    });
    // Those who wait hear of a failure; there may be none left.
    answer.catch(() => undefined);
    const asking: Asking = { answer, controller, waiting: 0 };
    return asking;
  }

  async #join(asking: Asking, signal: AbortSignal): Promise<Held> {
    asking.waiting += 1;
    const { promise: left, reject: leave } = Promise.withResolvers<never>();
    // The time limit of an attempt would else blame the receiver, which was not asked yet.
    const abort = () => leave(signal.reason instanceof BridgeError ? this.#timeout() : signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([asking.answer, left]);
    } finally {
      signal.removeEventListener('abort', abort);
      asking.waiting -= 1;
      if (asking.waiting === 0 && this.#asking === asking) {
        this.#asking = null;
        asking.controller.abort();
      }
    }
  }

  async #request(signal: AbortSignal): Promise<Held> {
    const { guard, lookup, connections, deps } = this.#parts;
    const since = now(deps);
    const { headers, body } = this.#form();
    checkLiteral(guard, hostOf(this.#url));
    const request = { url: this.#url, headers, body, agent: connections.agent(), lookup };
    const answer = await requestToken(request, signal).catch((error: unknown) => {
      throw signal.aborted && error === signal.reason ? error : ofWholeSink(networkFault(error, this.#who));
    });
    const read = readToken(answer, this.#who, deps.wallMs());
    if (read instanceof BridgeError) throw read;
    const renewAfterMs = read.lifetimeMs - Math.min(MARGIN_MS, read.lifetimeMs / 10);
    this.#held = { header: `Bearer ${read.token}`, since, renewAfterMs };
    return this.#held;
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

  /** By the clock that went further: a machine that was frozen has only one of them that tells. */
  #age({ wallMs, elapsedMs }: Instant): number {
    const { deps } = this.#parts;
    return Math.max(deps.wallMs() - wallMs, deps.elapsedMs() - (elapsedMs ?? 0));
  }

  #timeout(): BridgeError {
    const limit = formatDuration(this.#parts.timeoutMs);
    return unavailable(`${this.#who} gave no token within ${limit}: look at it, or raise timeout`, { status: 'timeout' });
  }
}

/** Each part encoded as in a form first (RFC 6749, section 2.3.1). */
function basic(id: string, secret: string): string {
  const [user, password] = [id, secret].map((text) => new URLSearchParams({ '': text }).toString().slice(1));
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function ofWholeSink(error: BridgeError): BridgeError {
  const { code, message, disposition = 'retry', status, cause } = error;
  return new BridgeError(code, message, { disposition, scope: 'sink', cause, ...(status !== undefined && { status }) });
}
