// A request's Authorization and Host headers → who it is, or the problem that keeps it out.
import { isLoopback } from '../private-addresses.ts';
import type { Deps } from '../time.ts';
import { FailureLimit } from './failure-limit.ts';
import { problem } from './problem.ts';
import type { Reply, RouteRequest } from './route.ts';

/** Who calls; an approver may read too. */
export interface Caller {
  readonly kind: 'approver' | 'reader';
  readonly name: string;
}

export interface AccessOptions {
  /** Null for a token that nobody has. */
  readonly authenticate: (token: string) => Caller | null;
  /** `/v1/*` needs a token for reading too: the address lies beyond loopback. */
  readonly requireToken: boolean;
  /** The host of `http.listen`. */
  readonly host: string;
  readonly deps: Pick<Deps, 'elapsedMs'>;
}

/** One for each listener: it counts the failures of each address. */
export class Access {
  readonly #options: AccessOptions;
  readonly #failures: FailureLimit;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#failures = new FailureLimit(options.deps);
  }

  /** Who calls, by the bearer token; else 401 or, from the 20th of an address within a minute, 429. */
  identify({ headers, address }: Pick<RouteRequest, 'headers' | 'address'>): Caller | Reply {
    const token = bearerToken(headers.authorization);
    const caller = token === null ? null : this.#options.authenticate(token);
    if (caller !== null) return caller;
    const waitSeconds = this.#failures.count(address);
    if (waitSeconds !== null) {
      const detail = `Too many requests without a valid token came from ${address}; a valid one is taken at any time.`;
      return problem(429, 'too-many-requests', detail, { 'retry-after': String(waitSeconds) });
    }
    const detail =
      token === null ? 'Send Authorization: Bearer TOKEN.' : 'Nobody has this token; check it against the configuration of the bridge.';
    return problem(401, 'unauthorized', detail, { 'www-authenticate': 'Bearer' });
  }

  /** The problem that keeps a reading request out; null where it may read. */
  refuseReading(request: Pick<RouteRequest, 'headers' | 'address'>): Reply | null {
    if (this.#options.requireToken) {
      const caller = this.identify(request);
      return 'kind' in caller ? null : caller;
    }
    // A web page can make a name of its own point at 127.0.0.1 and then read what stands open there; its name is in Host.
    if (isOwnHost(request.headers.host ?? '', this.#options.host)) return null;
    return problem(
      421,
      'host',
      'Without a token this is read at a loopback address or at the host of http.listen alone; use one of them in the URL.',
    );
  }
}

/** Null where there is none; the scheme's letter case does not count (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

function isOwnHost(hostHeader: string, listenHost: string): boolean {
  const name = hostHeader.toLowerCase().replace(/:\d*$/, '');
  const address = name.replace(/^\[(.*)\]$/, '$1');
  return isLoopback(address) || address === listenHost.toLowerCase();
}
