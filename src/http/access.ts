// A request's proof, address and Host → its caller, or the problem that refuses it.
import type { Authentication, Caller, Credentials } from '../auth/caller.ts';
import { isOwnHost } from '../net/own-host.ts';
import type { Deps } from '../time/clock.ts';
import { FailureLimit } from './failure-limit.ts';
import { networkOf } from './network-of.ts';
import { problem } from './problem.ts';
import type { Reply, RouteRequest } from './route.ts';

export interface AccessOptions {
  readonly authenticate: (credentials: Credentials) => Promise<Authentication>;
  /** `/v1/*` needs a token or certificate for reading too: the address lies beyond loopback. */
  readonly requireToken: boolean;
  /** The host of `http.listen`. */
  readonly host: string;
  readonly deps: Pick<Deps, 'elapsedMs'>;
  /** A request had no valid proof: for metrics. */
  readonly onRefused?: () => void;
  /** An address or IPv6 network reached the limit of failures; called once a minute for each. */
  readonly onFlood?: (network: string) => void;
}

type Identifiable = Pick<RouteRequest, 'headers' | 'address' | 'certificate'>;

/** One for each listener: it counts the failures of each address. */
export class Access {
  readonly #options: AccessOptions;
  readonly #failures: FailureLimit;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#failures = new FailureLimit(options.deps, options.onFlood);
  }

  /**
   * Who calls, by the Authorization header, or by the certificate where there is no such header; else 401 or, from the 20th of an address
   * within a minute, 429. 503 where it cannot be judged now.
   */
  async identify(request: Identifiable): Promise<Caller | Reply> {
    const result = await this.#judge(request);
    if (result.outcome === 'known') return result.caller;
    if (result.outcome === 'unavailable') {
      return problem('unavailable', result.detail, { 'retry-after': String(result.retryAfterSeconds) });
    }
    return this.#refuse(request.address, result.detail);
  }

  /** The problem that keeps a reading request out; null where it may read. */
  async refuseReading(request: Identifiable): Promise<Reply | null> {
    if (!this.#options.requireToken && isOwnHost(request.headers.host ?? '', this.#options.host)) return null;
    if (this.#options.requireToken || request.headers.authorization) {
      const caller = await this.identify(request);
      return 'kind' in caller ? null : caller;
    }
    return foreignHost();
  }

  /** Who sends a request that may read; null: nobody in particular. A proof that is not valid counts as none, if none is needed. */
  async readerOf(request: Identifiable): Promise<Caller | null> {
    const result = await this.#judge(request);
    return result.outcome === 'known' ? result.caller : null;
  }

  /** For what needs no token and tells nothing: 421 under a name that is not this server's, as of what is read without one; else null. */
  refuseHost({ headers }: Pick<RouteRequest, 'headers'>): Reply | null {
    return this.#options.requireToken || isOwnHost(headers.host ?? '', this.#options.host) ? null : foreignHost();
  }

  /** Whether it may, for a route that answers others too, with less. */
  async mayRead(request: Identifiable): Promise<boolean> {
    const isAnonymous = !request.headers.authorization && request.certificate() === null;
    if (isAnonymous && this.#options.requireToken) return false;
    return (await this.refuseReading(request)) === null;
  }

  #judge({ headers, address, certificate }: Identifiable): Promise<Authentication> {
    const authorization = headers.authorization?.trim() ?? '';
    const token = bearerToken(authorization);
    // A wrong token is refused in spite of a certificate: who sends a token wants to be judged by it.
    const isForeign = authorization !== '' && token === null;
    const shown = isForeign || token !== null ? null : certificate();
    return this.#options.authenticate({ token, certificate: shown, network: networkOf(address) });
  }

  #refuse(address: string, detail: string): Reply {
    this.#options.onRefused?.();
    const waitSeconds = this.#failures.count(address);
    if (waitSeconds === null) return problem('unauthorized', detail, { 'www-authenticate': 'Bearer' });
    const excuse = `Too many requests without a valid token came from ${address}; a valid one is taken at any time.`;
    return problem('too-many-requests', excuse, { 'retry-after': String(waitSeconds) });
  }
}

/** A web page can make a name of its own point at 127.0.0.1 and then read what stands open there; its name is in Host. */
function foreignHost(): Reply {
  return problem(
    'host',
    'Without a token this is read at a loopback address or at the host of http.listen alone; use one of them in the URL.',
  );
}

/** Null where there is none; the scheme's letter case does not count (RFC 9110, section 11.1). */
function bearerToken(authorization: string): string | null {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? null;
}
