// An issuer's key set → the key that a token names; old keys serve while the issuer is away.
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import type { Logger } from 'pino';
import { BridgeError, codeOf, messageOf } from '../errors.ts';
import { isObject } from '../formats/json-object.ts';
import { TlsFiles } from '../net/tls-files.ts';
import type { Secret } from '../secrets/secret.ts';
import { type FileText, WatchedFile } from '../secrets/watched-file.ts';
import type { Deps } from '../time/clock.ts';
import { keysFault, requestKeySet } from './key-set-request.ts';
import type { JwtOptions } from './options.ts';

/** Keys older than that are fetched again before they are used. */
export const KEYS_FRESH_MS = 600_000;
/** Where fetching fails they are used for so long: a withdrawn key must not count for ever. */
const KEPT_MS = 86_400_000;
/** A token that names an unknown key has the keys fetched again, at most this often. */
const COOLDOWN_MS = 30_000;
/** After a failure nothing is fetched for so long. */
const PAUSE_MS = 5000;

export type KeySetDeps = Pick<Deps, 'elapsedMs' | 'after'>;

export interface KeySet {
  /** Grows with each new set of keys: tokens verified by the old ones must be verified again. */
  readonly generation: number;
  /** Null where no key, or more than one, fits the header. @throws BridgeError BRIDGE_JWT_* where there are no keys to judge by. */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey | null>;
  /** Has the keys fetched or read. @throws BridgeError BRIDGE_JWT_* */
  check(): Promise<void>;
}

type Find = (header: JWSHeaderParameters) => Promise<CryptoKey>;

/** Opens nothing before its first use. */
export function openKeySet(options: JwtOptions, deps: KeySetDeps, logger: Logger): KeySet {
  const { jwks } = options;
  if (typeof jwks !== 'string') return new FileKeySet(jwks, deps, logger);
  const files =
    options.tls && new TlsFiles(options.tls, { owner: 'approvals.jwt', section: 'tls', code: 'BRIDGE_JWT_KEYS' }, { ...deps, logger });
  const trust = () => files?.context() ?? null;
  const target = { url: new URL(jwks), allowPrivate: options.allowPrivate, trust, serverName: options.tls?.serverName ?? null };
  return new RemoteKeySet(() => requestKeySet(target, deps), target.url.origin, deps, logger);
}

class RemoteKeySet implements KeySet {
  readonly #fetch: () => Promise<string>;
  readonly #origin: string;
  readonly #deps: KeySetDeps;
  readonly #logger: Logger;
  #held: { readonly find: Find; readonly text: string; readonly sinceMs: number } | null = null;
  #fetching: Promise<void> | null = null;
  #failure: { readonly error: BridgeError; readonly untilMs: number } | null = null;
  generation = 0;

  constructor(fetch: () => Promise<string>, origin: string, deps: KeySetDeps, logger: Logger) {
    this.#fetch = fetch;
    this.#origin = origin;
    this.#deps = deps;
    this.#logger = logger;
  }

  async keyFor(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    if (this.#ageMs() >= KEYS_FRESH_MS) await this.#renew();
    if (this.#held === null || this.#ageMs() >= KEPT_MS) throw this.#failure?.error ?? keysFault('the keys of approvals.jwt are too old');
    const known = await this.#find(header);
    if (known !== 'unknown') return known;
    if (this.#ageMs() >= COOLDOWN_MS) await this.#renew();
    const found = await this.#find(header);
    if (found !== 'unknown') return found;
    // It may be a new key, which cannot be fetched now.
    if (this.#failure !== null) throw this.#failure.error;
    return null;
  }

  async check(): Promise<void> {
    await this.#renew();
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #find(header: JWSHeaderParameters): Promise<CryptoKey | 'unknown' | null> {
    return this.#held === null ? 'unknown' : await keyIn(this.#held.find, header);
  }

  #ageMs(): number {
    return this.#held === null ? Number.POSITIVE_INFINITY : this.#deps.elapsedMs() - this.#held.sinceMs;
  }

  /** One request at a time, however many wait for it; none during the pause after a failure. Never rejects. */
  async #renew(): Promise<void> {
    if (this.#failure !== null && this.#deps.elapsedMs() < this.#failure.untilMs) return;
    this.#fetching ??= this.#ask().finally(() => {
      this.#fetching = null;
    });
    await this.#fetching;
  }

  async #ask(): Promise<void> {
    try {
      const text = await this.#fetch();
      const find = await findIn(readKeySet(text, `the key set of approvals.jwt at ${this.#origin}`));
      if (this.#failure !== null) this.#logger.info('the key set of approvals.jwt can be fetched again');
      this.#failure = null;
      if (this.#held?.text !== text) this.generation++;
      this.#held = { find, text, sinceMs: this.#deps.elapsedMs() };
    } catch (error) {
      const fault = error instanceof BridgeError ? error : keysFault(messageOf(error));
      if (this.#failure?.error.message !== fault.message)
        this.#logger.error({ err: fault }, 'the key set of approvals.jwt cannot be fetched');
      this.#failure = { error: fault, untilMs: this.#deps.elapsedMs() + PAUSE_MS };
    }
  }
}

/** Read again when the file changes; one that cannot be used leaves the last good keys in use, which is logged once. */
class FileKeySet implements KeySet {
  readonly #file: WatchedFile<JSONWebKeySet>;
  #found: { readonly set: JSONWebKeySet; readonly find: Promise<Find> } | null = null;
  generation = 0;

  constructor(secret: Secret, deps: KeySetDeps, logger: Logger) {
    const place = `the file ${secret.file ?? secret.origin} of approvals.jwt.jwks`;
    const parts = {
      initial: () => readKeySet(secret.reveal(), place),
      parse: ([file = { fault: '' }]: readonly FileText[]) => {
        if ('fault' in file) throw keysFault(`${place} ${file.fault}`);
        return readKeySet(file.text, place);
      },
      onChanged: () => {
        this.generation++;
      },
      onUnusable: (reason: string) => logger.error({ reason }, 'the key set of approvals.jwt cannot be used: the last good one stays'),
    };
    this.#file = new WatchedFile(secret.file === null ? [] : [secret.file], parts, deps);
  }

  async keyFor(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    const set = this.#file.current();
    if (this.#found?.set !== set) this.#found = { set, find: findIn(set) };
    const found = await keyIn(await this.#found.find, header);
    return found === 'unknown' ? null : found;
  }

  async check(): Promise<void> {
    this.#file.current();
  }
}

/** @throws BridgeError BRIDGE_JWT_KEYS */
function readKeySet(text: string, what: string): JSONWebKeySet {
  try {
    const set = JSON.parse(text);
    if (Array.isArray(set?.keys) && set.keys.length > 0 && set.keys.every(isObject)) return set;
  } catch {
    // Without the cause, which may quote the text.
  }
  throw keysFault(`${what} holds no key set in JSON: { "keys": [ … ] }`);
}

async function findIn(set: JSONWebKeySet): Promise<Find> {
  const { createLocalJWKSet } = await import('./jwt-library.ts');
  const find = createLocalJWKSet(set);
  return (header) => find(header);
}

/** Null where a key cannot be used, or several could. */
async function keyIn(find: Find, header: JWSHeaderParameters): Promise<CryptoKey | 'unknown' | null> {
  try {
    return await find(header);
  } catch (error) {
    return codeOf(error) === 'ERR_JWKS_NO_MATCHING_KEY' ? 'unknown' : null;
  }
}
