// An issuer's key set → the key that a token names; old keys stay valid while fetching fails.
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import type { Logger } from 'pino';
import { BridgeError, codeOf, messageOf } from '../errors.ts';
import { hasFewValues } from '../formats/json-bounds.ts';
import { isObject } from '../formats/json-object.ts';
import { TlsFiles } from '../net/tls-files.ts';
import type { Secret } from '../secrets/secret.ts';
import { type FileText, WatchedFile } from '../secrets/watched-file.ts';
import type { Deps } from '../time/clock.ts';
import { keysFault, requestKeySet } from './key-set-request.ts';
import type { JwtOptions } from './options.ts';

/** Older keys are fetched again before use. */
const KEYS_FRESH_MS = 600_000;
/** The maximum age of keys while fetching fails, so that a withdrawn key does not count indefinitely. */
const MAX_AGE_MS = 86_400_000;
/** The minimum time between fetches for tokens with unknown keys. */
const COOLDOWN_MS = 30_000;
/** The pause after a failed fetch. */
const PAUSE_MS = 5000;
/** A key has about 10 values; large issuers have about 20 keys. */
const MOST_VALUES = 10_000;

type KeySetDeps = Pick<Deps, 'elapsedMs' | 'after'>;

export interface KeySet {
  /**
   * Grows with each new set of keys. Tokens verified with older keys must be verified again.
   * @throws BridgeError BRIDGE_JWT_KEYS
   */
  readonly generation: number;
  /** False if the keys must be fetched again before use, also for tokens verified before. */
  readonly areFresh: boolean;
  /**
   * Returns null if no key, or more than one, matches the header.
   * @throws BridgeError BRIDGE_JWT_* if the keys are not available
   */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey | null>;
  /** Fetches or reads the keys. @throws BridgeError BRIDGE_JWT_* */
  check(): Promise<void>;
}

type Find = (header: JWSHeaderParameters) => Promise<CryptoKey>;

/** Returns a key set that opens no file or connection before its first use. */
export function openKeySet(options: JwtOptions, deps: KeySetDeps, logger: Logger): KeySet {
  const { jwks } = options;
  if (typeof jwks !== 'string') return new FileKeySet(jwks, deps, logger);
  const files =
    options.tls &&
    new TlsFiles(options.tls, { owner: 'approvals.jwt', section: 'tls', code: 'BRIDGE_JWT_KEYS' }, { ...deps, logger });
  const trust = () => files?.context() ?? null;
  const target = {
    url: new URL(jwks),
    allowPrivate: options.allowPrivate,
    trust,
    serverName: options.tls?.serverName ?? null,
  };
  return new RemoteKeySet(() => requestKeySet(target, deps), target.url.origin, deps, logger);
}

class RemoteKeySet implements KeySet {
  readonly #fetch: () => Promise<string>;
  readonly #origin: string;
  readonly #deps: KeySetDeps;
  readonly #logger: Logger;
  #cached: { readonly find: Find; readonly text: string; readonly sinceMs: number } | null = null;
  #fetching: Promise<void> | null = null;
  #failure: { readonly error: BridgeError; readonly untilMs: number } | null = null;
  generation = 0;

  constructor(fetch: () => Promise<string>, origin: string, deps: KeySetDeps, logger: Logger) {
    this.#fetch = fetch;
    this.#origin = origin;
    this.#deps = deps;
    this.#logger = logger;
  }

  get areFresh(): boolean {
    return this.#ageMs() < KEYS_FRESH_MS;
  }

  async keyFor(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    if (!this.areFresh) await this.#renew();
    if (this.#cached === null || this.#ageMs() >= MAX_AGE_MS)
      throw this.#failure?.error ?? keysFault('the keys of approvals.jwt are too old');
    const known = await this.#find(header);
    if (known !== 'unknown') return known;
    if (this.#ageMs() >= COOLDOWN_MS) await this.#renew();
    const found = await this.#find(header);
    if (found !== 'unknown') return found;
    // The token may name a new key, which cannot be fetched now.
    if (this.#failure !== null) throw this.#failure.error;
    return null;
  }

  async check(): Promise<void> {
    await this.#renew();
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #find(header: JWSHeaderParameters): Promise<CryptoKey | 'unknown' | null> {
    return this.#cached === null ? 'unknown' : await keyIn(this.#cached.find, header);
  }

  #ageMs(): number {
    return this.#cached === null ? Number.POSITIVE_INFINITY : this.#deps.elapsedMs() - this.#cached.sinceMs;
  }

  /** Fetches the keys: one request for all who wait, and none during the pause after a failure. Never rejects. */
  async #renew(): Promise<void> {
    if (this.#failure !== null && this.#deps.elapsedMs() < this.#failure.untilMs) return;
    this.#fetching ??= this.#fetchAgain().finally(() => {
      this.#fetching = null;
    });
    await this.#fetching;
  }

  async #fetchAgain(): Promise<void> {
    try {
      const text = await this.#fetch();
      const find = await findIn(readKeySet(text, `the key set of approvals.jwt at ${this.#origin}`));
      if (this.#failure !== null) this.#logger.info('the key set of approvals.jwt can be fetched again');
      this.#failure = null;
      if (this.#cached?.text !== text) this.generation++;
      this.#cached = { find, text, sinceMs: this.#deps.elapsedMs() };
    } catch (error) {
      const fault = error instanceof BridgeError ? error : keysFault(messageOf(error));
      if (this.#failure?.error.message !== fault.message)
        this.#logger.error({ err: fault }, 'the key set of approvals.jwt cannot be fetched');
      this.#failure = { error: fault, untilMs: this.#deps.elapsedMs() + PAUSE_MS };
    }
  }
}

/**
 * Reads the file again when it changes. If it is unusable, the last good keys stay in use, and one log line says so.
 */
class FileKeySet implements KeySet {
  readonly #file: WatchedFile<JSONWebKeySet>;
  #found: { readonly set: JSONWebKeySet; readonly find: Promise<Find> } | null = null;
  #generation = 0;
  readonly areFresh = true;

  constructor(secret: Secret, deps: KeySetDeps, logger: Logger) {
    const place = `the file ${secret.file ?? secret.origin} of approvals.jwt.jwks`;
    const parts = {
      initial: () => readKeySet(secret.reveal(), place),
      parse: ([file = { fault: '' }]: readonly FileText[]) => {
        if ('fault' in file) throw keysFault(`${place} ${file.fault}`);
        return readKeySet(file.text, place);
      },
      onChanged: () => {
        this.#generation++;
      },
      onUnusable: (reason: string) =>
        logger.error({ reason }, 'the key set of approvals.jwt cannot be used: the last good one stays in use'),
    };
    this.#file = new WatchedFile(secret.file === null ? [] : [secret.file], parts, deps);
  }

  get generation(): number {
    this.#file.current();
    return this.#generation;
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
    const set = hasFewValues(Buffer.from(text), MOST_VALUES) ? JSON.parse(text) : null;
    if (Array.isArray(set?.keys) && set.keys.length > 0 && set.keys.every(isObject)) return set;
  } catch {
    // The cause is dropped, because it may quote the text.
  }
  throw keysFault(`${what} is not a key set in JSON: { "keys": [ … ] }`);
}

async function findIn(set: JSONWebKeySet): Promise<Find> {
  const { createLocalJWKSet } = await import('./jwt-library.ts');
  const find = createLocalJWKSet(set);
  return (header) => find(header);
}

/** Returns null if the key is unusable, or if several match. */
async function keyIn(find: Find, header: JWSHeaderParameters): Promise<CryptoKey | 'unknown' | null> {
  try {
    return await find(header);
  } catch (error) {
    return codeOf(error) === 'ERR_JWKS_NO_MATCHING_KEY' ? 'unknown' : null;
  }
}
