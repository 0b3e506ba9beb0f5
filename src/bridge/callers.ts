// The configured approvers and readers → the caller of a request, and whether it is an admin.
import type { Logger } from 'pino';
import { createAuthenticator } from '../auth/authenticate.ts';
import type { Authentication, Credentials } from '../auth/caller.ts';
import type { JwtDeps } from '../auth/jwt.ts';
import { type KeySet, openKeySet } from '../auth/key-set.ts';
import { touches } from '../config/changes.ts';
import type { Config } from '../config/config.ts';

type CallersConfig = Pick<Config, 'http' | 'approvals'>;

/** A reload applies from the next request on. */
export class Callers {
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

  /** Whether any approver is configured. */
  get areConfigured(): boolean {
    return Object.keys(this.#approvers).length > 0;
  }

  /** Uses the configuration in force when it resolves, because fetching a key set may take seconds. */
  async authenticate(credentials: Credentials): Promise<Authentication> {
    for (;;) {
      const authenticate = this.#authenticate;
      const authentication = await authenticate(credentials);
      if (authenticate === this.#authenticate) return authentication;
    }
  }

  isAdmin(approver: string): boolean {
    return this.#approvers[approver]?.admin === true;
  }

  /** Fetches the keys of an identity provider again only if `approvals.jwt` has changed. */
  reload(config: CallersConfig, paths: readonly string[]): void {
    if (touches(paths, 'approvals.jwt')) this.#keys = this.#keysOf(config);
    const isOther = ['approvals.jwt', 'approvals.approvers', 'http.readers'].some((path) => touches(paths, path));
    if (isOther) this.#authenticate = this.#authenticatorOf(config);
    this.#approvers = config.approvals.approvers;
  }

  #keysOf({ approvals: { jwt } }: CallersConfig): KeySet | null {
    return jwt && openKeySet(jwt, this.#deps, this.#logger);
  }

  #authenticatorOf({ approvals: { approvers, jwt }, http: { readers } }: CallersConfig) {
    return createAuthenticator({ approvers, readers, jwt, keys: this.#keys, deps: this.#deps, logger: this.#logger });
  }
}
