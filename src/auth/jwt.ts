// A JSON Web Token (RFC 7519) → the approver whose subject it proves, or why it proves none.
import { createHash } from 'node:crypto';
import type { CryptoKey, JWSHeaderParameters, JWTPayload } from 'jose';
import type { Logger } from 'pino';
import { codeOf } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import { FairQueue } from '../time/fair-queue.ts';
import { KEYS_FRESH_MS, type KeySet, openKeySet } from './key-set.ts';
import type { JwtOptions } from './options.ts';

/** Verified tokens kept in memory, so that their signatures are not verified again. */
const PROVED = 256;
const LATER = 'it has expired or is not valid yet: get a new one';
/** One text for both, so that a caller without a valid signature does not learn which subjects exist. */
const UNPROVED = 'its signature, or what it says of its owner, is not one that is taken here';

export type JwtVerdict = { readonly kind: 'approver'; readonly name: string } | { readonly kind: 'refused'; readonly reason: string };

interface Proved {
  readonly name: string;
  readonly untilWallMs: number;
  readonly untilMs: number;
  readonly generation: number;
}

export type JwtDeps = Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;

/** A token's claims, not yet verified. */
interface Unproved {
  readonly header: JWSHeaderParameters & { readonly alg: string };
  readonly payload: JWTPayload;
}

/** Whether a token could be one: three parts in base64url. */
export function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** Loads the library and the keys at the first token. */
export class JwtVerifier {
  readonly #options: JwtOptions;
  readonly #subjects: ReadonlyMap<string, string>;
  readonly #keys: KeySet;
  readonly #deps: JwtDeps;
  readonly #logger: Logger;
  readonly #turns = new FairQueue();
  /** By hash of the token, the oldest first. */
  readonly #proved = new Map<string, Proved>();

  /**
   * @param subjects the approvers' names by their subject
   * @param keys those of `options.jwks`
   */
  constructor(
    options: JwtOptions,
    subjects: ReadonlyMap<string, string>,
    deps: JwtDeps,
    logger: Logger,
    keys: KeySet = openKeySet(options, deps, logger),
  ) {
    this.#options = options;
    this.#subjects = subjects;
    this.#keys = keys;
    this.#deps = deps;
    this.#logger = logger;
  }

  /**
   * Cheap checks come first, so that no key is fetched and no signature verified for a token that cannot be valid.
   * @param network who brought it: verifications take turns by it
   * @throws BridgeError BRIDGE_JWT_* where there are no keys to judge by
   */
  async judge(token: string, network: string): Promise<JwtVerdict> {
    const hash = createHash('sha256').update(token).digest('base64');
    const known = this.#provedBefore(hash);
    if (known !== null) return { kind: 'approver', name: known };
    const unproved = await readUnproved(token);
    if (unproved === null) return this.#refuse('it is no JWT', UNPROVED);
    const early = this.#earlyFault(unproved);
    if (early !== null) return early;
    const key = await this.#keys.keyFor(unproved.header);
    if (key === null) return this.#refuse('no key of the key set fits it', UNPROVED);
    const generation = this.#keys.generation;
    const payload = await this.#turns.take(network, () => this.#verify(token, key));
    if (typeof payload === 'string') return this.#refuse(payload, UNPROVED);
    const [name, ...others] = this.#ownersIn(payload);
    if (name === undefined || others.length > 0) return this.#refuse('its claim names nobody, or several', UNPROVED);
    this.#remember(hash, name, payload, generation);
    return { kind: 'approver', name };
  }

  /** Has the keys fetched or read. @throws BridgeError BRIDGE_JWT_* */
  async check(): Promise<void> {
    await this.#keys.check();
  }

  /** What the token says, or a code of why it proves nothing. */
  async #verify(token: string, key: CryptoKey): Promise<JWTPayload | string> {
    const { jwtVerify } = await import('./jwt-library.ts');
    const { algorithms, issuer, audiences, clockToleranceMs } = this.#options;
    const options = {
      ...{ algorithms: [...algorithms], issuer, audience: [...audiences], requiredClaims: ['exp'] },
      ...{ clockTolerance: clockToleranceMs / 1000, currentDate: new Date(this.#deps.wallMs()) },
    };
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      // A key that is too weak is a TypeError.
      return codeOf(error) ?? 'the key cannot be used';
    }
  }

  /** By what it says of itself; the proof judges it again. */
  #earlyFault({ header, payload }: Unproved): JwtVerdict | null {
    const { algorithms, types, issuer, audiences, clockToleranceMs, maxLifetimeMs } = this.#options;
    const { iss, aud, exp, nbf } = payload;
    const nowMs = this.#deps.wallMs();
    if (!algorithms.includes(header.alg)) return this.#refuse('another algorithm', 'it is not signed by an algorithm that is taken here');
    if (types.length > 0 && !types.some((type) => plainType(type) === plainType(header.typ ?? '')))
      return this.#refuse('another type', 'its type (typ) is not one that is taken here');
    if (iss !== issuer) return this.#refuse('another issuer', 'its issuer (iss) is not the one that is trusted here');
    if (![aud].flat().some((name) => name !== undefined && audiences.includes(name)))
      return this.#refuse('another audience', 'it was made for another audience (aud)');
    if (typeof exp !== 'number') return this.#refuse('no exp', 'it never expires (no exp)');
    if (nowMs >= exp * 1000 + clockToleranceMs) return this.#refuse('expired', LATER);
    if (exp * 1000 - nowMs > maxLifetimeMs + clockToleranceMs)
      return this.#refuse('exp too far ahead', 'it is good for too long (exp): get one that expires sooner');
    if (nbf !== undefined && !(typeof nbf === 'number' && nowMs >= nbf * 1000 - clockToleranceMs))
      return this.#refuse('not yet valid', LATER);
    const owners = this.#ownersIn(payload);
    if (owners.length === 1) return null;
    return this.#refuse(owners.length === 0 ? 'its claim names nobody' : 'its claim names more than one approver', UNPROVED);
  }

  #ownersIn(payload: JWTPayload): string[] {
    const { claim } = this.#options;
    const value: unknown = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
    const said = (Array.isArray(value) ? value : [value]).filter((member) => typeof member === 'string');
    return [...new Set(said.flatMap((member) => this.#subjects.get(member) ?? []))];
  }

  #provedBefore(hash: string): string | null {
    const proved = this.#proved.get(hash);
    if (proved === undefined) return null;
    const { name, untilWallMs, untilMs, generation } = proved;
    const isGood = this.#deps.wallMs() < untilWallMs && this.#deps.elapsedMs() < untilMs && generation === this.#keys.generation;
    if (isGood) return name;
    this.#proved.delete(hash);
    return null;
  }

  #remember(hash: string, name: string, { exp = 0 }: JWTPayload, generation: number): void {
    const oldest = this.#proved.keys().next();
    if (this.#proved.size >= PROVED && !oldest.done) this.#proved.delete(oldest.value);
    const untilWallMs = exp * 1000 + this.#options.clockToleranceMs;
    this.#proved.set(hash, { name, untilWallMs, untilMs: this.#deps.elapsedMs() + KEYS_FRESH_MS, generation });
  }

  #refuse(why: string, reason: string): JwtVerdict {
    this.#logger.debug({ why }, 'a JWT was refused');
    return { kind: 'refused', reason };
  }
}

/** `application/` may stand before it or not, and case counts for nothing (RFC 7515, section 4.1.9). */
function plainType(typ: string): string {
  return typ.toLowerCase().replace(/^application\/(?=[^/]*$)/, '');
}

/** Null where it cannot be read. */
async function readUnproved(token: string): Promise<Unproved | null> {
  const { decodeJwt, decodeProtectedHeader } = await import('./jwt-library.ts');
  try {
    const header = decodeProtectedHeader(token);
    return { header: { ...header, alg: header.alg ?? '' }, payload: decodeJwt(token) };
  } catch {
    return null;
  }
}
