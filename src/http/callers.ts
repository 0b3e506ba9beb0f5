// A request's proof, address and Host → its caller, or the problem that refuses it.
import type { Logger } from 'pino';
import { createAuthenticator } from '../auth/authenticate.ts';
import type { Authentication, Caller, Credentials } from '../auth/caller.ts';
import type { JwtDeps } from '../auth/jwt.ts';
import { type KeySet, openKeySet } from '../auth/key-set.ts';
import type { ApproverCredentials, JwtOptions } from '../auth/options.ts';
import type { TokenOwners } from '../auth/token-store.ts';
import type { ApprovalOrigin } from '../model/approvals.ts';
import { isOwnHost, networkOf } from '../net/private-addresses.ts';
import type { Deps } from '../time/clock.ts';
import { FailureLimit } from './failure-limit.ts';
import type { Refused, Reply, RouteRequest } from './route.ts';
import { problem } from './route.ts';

/** Who may call, by the configuration in force. */
export interface KnownCallers {
  /** False if nobody may approve through the HTTP interface. */
  readonly hasApprovers: boolean;
  isAdmin(approver: string): boolean;
  authenticate(credentials: Credentials): Promise<Authentication>;
}

interface CallersOptions {
  readonly known: KnownCallers;
  /** True if `/v1/*` needs a token or certificate for reading too: the address is not a loopback address. */
  readonly requireToken: boolean;
  /** The host of `http.listen`. */
  readonly host: string;
  readonly deps: Pick<Deps, 'elapsedMs'>;
  /** Called for each request without a valid proof: for metrics. */
  readonly onRefused?: () => void;
  /** Called once a minute for each address or IPv6 network that reached the limit of failures. */
  readonly onFlood?: (network: string) => void;
}

type Identifiable = Pick<RouteRequest, 'headers' | 'address' | 'certificate'>;

/** One for each listener: it counts the failures of each address. */
export class Callers {
  readonly #options: CallersOptions;
  readonly #failures: FailureLimit;

  constructor(options: CallersOptions) {
    this.#options = options;
    this.#failures = new FailureLimit(options.deps, options.onFlood);
  }

  /**
   * Returns who calls, by the Authorization header, or by the certificate if there is no such header.
   * Otherwise 401 or, from the 20th failure of an address within a minute, 429. 503 if the proof cannot be judged now.
   */
  async identify(request: Identifiable): Promise<Caller | Reply> {
    const result = await this.#judge(request);
    if (result.outcome === 'known') return result.caller;
    if (result.outcome === 'unavailable') {
      return problem('unavailable', result.detail, { 'retry-after': String(result.retryAfterSeconds) });
    }
    return this.#refuse(request.address, result.detail);
  }

  /** Returns the approver who calls, or 403, 401 or 429, 403, in this order (behaviour 6.3). */
  async approver(request: Identifiable): Promise<ApprovalOrigin | Refused> {
    if (!this.#options.known.hasApprovers) {
      const detail =
        'No approvers are configured: name them under approvals.approvers in the configuration of the bridge.';
      return { reply: problem('no-approvers', detail) };
    }
    const caller = await this.identify(request);
    if (!('kind' in caller)) return { reply: caller };
    // HTTP approvals reach this bridge alone, so no other one of its group can post them.
    if (caller.kind === 'approver') return { approver: caller.name, via: caller.via, isShared: false };
    return { reply: problem('reader', `${caller.name} is a reader; use the token of an approver.`) };
  }

  /** As for an approver, then 403 for one without `admin: true`, and for a page of another origin. */
  async admin(request: Identifiable): Promise<ApprovalOrigin | Refused> {
    const origin = await this.approver(request);
    if ('reply' in origin) return origin;
    if (!this.isAdmin(origin.approver))
      return {
        reply: problem(
          'not-admin',
          `${origin.approver} is not an admin: give it admin: true under approvals.approvers.`,
        ),
      };
    // A browser shows a client certificate to any page that asks for it.
    return isFromElsewhere(request) ? { reply: foreignPage() } : origin;
  }

  isAdmin(approver: string): boolean {
    return this.#options.known.isAdmin(approver);
  }

  /**
   * Returns the caller, null if nothing is shown and reading needs no proof, or the refusal. A proof is judged even if
   * none is needed.
   */
  async named(request: Identifiable): Promise<Caller | null | Refused> {
    if (isAnonymous(request)) {
      const reply = await this.refuseReading(request);
      return reply && { reply };
    }
    const caller = await this.identify(request);
    return 'kind' in caller ? caller : { reply: caller };
  }

  /** Returns the problem that keeps a reading request out, or null if it may read. */
  async refuseReading(request: Identifiable): Promise<Reply | null> {
    if (this.refuseHost(request) === null && !this.#options.requireToken) return null;
    if (this.#options.requireToken || request.headers.authorization) {
      const caller = await this.identify(request);
      return 'kind' in caller ? null : caller;
    }
    return foreignHost();
  }

  /**
   * Returns who sends a request that may read, or null if nothing proves it. A proof that is not valid counts as none.
   */
  async readerOf(request: Identifiable): Promise<Caller | null> {
    const result = await this.#judge(request);
    return result.outcome === 'known' ? result.caller : null;
  }

  /** For pages without data, which need no token: returns 421 if Host is not a name of this server, or null. */
  refuseHost({ headers }: Pick<RouteRequest, 'headers'>): Reply | null {
    return this.#options.requireToken || isOwnHost(headers.host ?? '', this.#options.host) ? null : foreignHost();
  }

  /** Returns whether a caller may read, for a route that answers others too, with less. */
  async mayRead(request: Identifiable): Promise<boolean> {
    if (isAnonymous(request) && this.#options.requireToken) return false;
    return (await this.refuseReading(request)) === null;
  }

  #judge({ headers, address, certificate }: Identifiable): Promise<Authentication> {
    const authorization = headers.authorization?.trim() ?? '';
    const token = bearerToken(authorization);
    // A wrong token is refused in spite of a certificate: a caller that sends a token expects to be judged by it.
    const isForeign = authorization !== '' && token === null;
    const shown = isForeign || token !== null ? null : certificate();
    return this.#options.known.authenticate({ token, certificate: shown, network: networkOf(address) });
  }

  #refuse(address: string, detail: string): Reply {
    this.#options.onRefused?.();
    const waitSeconds = this.#failures.count(address);
    if (waitSeconds === null) return problem('unauthorized', detail, { 'www-authenticate': 'Bearer' });
    const excuse = `Too many requests without a valid token came from ${address}. Wait, or send a valid token: it is always accepted.`;
    return problem('too-many-requests', excuse, { 'retry-after': String(waitSeconds) });
  }
}

interface CallersConfig {
  readonly approvals: {
    readonly approvers: Readonly<Record<string, ApproverCredentials & { readonly admin: boolean }>>;
    readonly jwt: JwtOptions | null;
  };
  readonly http: { readonly readers: TokenOwners };
}

/** The approvers and readers of the configuration. After a reload, the next request is judged by the new ones. */
export class ConfiguredCallers implements KnownCallers {
  readonly #deps: JwtDeps;
  readonly #logger: Logger;
  #approvers: CallersConfig['approvals']['approvers'];
  #keys: KeySet | null;
  #authenticate: ReturnType<typeof createAuthenticator>;

  constructor(config: CallersConfig, deps: JwtDeps, logger: Logger) {
    this.#deps = deps;
    this.#logger = logger;
    this.#approvers = config.approvals.approvers;
    this.#keys = this.#keysOf(config);
    this.#authenticate = this.#authenticatorOf(config);
  }

  get hasApprovers(): boolean {
    return Object.keys(this.#approvers).length > 0;
  }

  isAdmin(approver: string): boolean {
    return this.#approvers[approver]?.admin === true;
  }

  /** By the configuration in force when it resolves: a key set may take seconds to arrive. */
  async authenticate(credentials: Credentials): Promise<Authentication> {
    for (;;) {
      const authenticate = this.#authenticate;
      const authentication = await authenticate(credentials);
      if (authenticate === this.#authenticate) return authentication;
    }
  }

  /**
   * The keys of an identity provider are fetched again only if `approvals.jwt` has changed.
   * @param hasChanged whether a path of the configuration has changed
   */
  reload(config: CallersConfig, hasChanged: (path: string) => boolean): void {
    if (hasChanged('approvals.jwt')) this.#keys = this.#keysOf(config);
    if (['approvals.jwt', 'approvals.approvers', 'http.readers'].some(hasChanged))
      this.#authenticate = this.#authenticatorOf(config);
    this.#approvers = config.approvals.approvers;
  }

  #keysOf({ approvals: { jwt } }: CallersConfig): KeySet | null {
    return jwt && openKeySet(jwt, this.#deps, this.#logger);
  }

  #authenticatorOf({ approvals: { approvers, jwt }, http: { readers } }: CallersConfig) {
    return createAuthenticator({ approvers, readers, jwt, keys: this.#keys, deps: this.#deps, logger: this.#logger });
  }
}

/** On another port or another name of the same site, too: any local program can serve such a page. */
const ELSEWHERE: readonly unknown[] = ['cross-site', 'same-site'];

/**
 * Returns whether a page of another origin sent it, by the browser's own headers (Fetch Metadata, section 2.4; a GET
 * has no Origin).
 */
export function isFromElsewhere({ headers }: Pick<RouteRequest, 'headers'>): boolean {
  const { origin, host } = headers;
  return ELSEWHERE.includes(headers['sec-fetch-site']) || (origin !== undefined && URL.parse(origin)?.host !== host);
}

export function foreignPage(): Reply {
  return problem('foreign-page', 'A page of another origin sent this request. The bridge answers only its own pages.');
}

/**
 * A web page can make a name of its own resolve to 127.0.0.1 and then read what needs no token. That name is in Host.
 */
function foreignHost(): Reply {
  return problem('host', 'Without a token, use a loopback address or the host of http.listen in the URL.');
}

function isAnonymous({ headers, certificate }: Identifiable): boolean {
  return !headers.authorization && certificate() === null;
}

/** Null if there is none. The scheme's letter case does not count (RFC 9110, section 11.1). */
function bearerToken(authorization: string): string | null {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? null;
}
