// A JSON Web Token (RFC 7519) → the approver with its subject, or why it is rejected.
import { createHash } from 'node:crypto';
import type { CryptoKey, JWSHeaderParameters, JWTPayload } from 'jose';
import type { Logger } from 'pino';
import { codeOf } from '../errors.ts';
import type { Deps } from '../time/clock.ts';
import { FairQueue } from '../time/fair-queue.ts';
import type { KeySet } from './key-set.ts';
import type { JwtOptions } from './options.ts';

/** The most verified tokens in memory, so that their signatures are not verified again. */
const MOST_VERIFIED = 256;
const EXPIRED = 'it has expired or is not valid yet: get a new one';
/**
 * The same text for signature and subject, so that a caller without a valid signature does not learn which subjects
 * exist.
 */
const UNVERIFIED = 'its signature or its subject is not accepted here';

type JwtVerdict =
  | { readonly kind: 'approver'; readonly name: string }
  | { readonly kind: 'refused'; readonly reason: string };

interface VerifiedToken {
  readonly name: string;
  readonly untilWallMs: number;
  readonly generation: number;
}

export type JwtDeps = Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;

/** A token's claims, not yet verified. */
interface UnverifiedToken {
  readonly header: JWSHeaderParameters & { readonly alg: string };
  readonly payload: JWTPayload;
}

/** Returns whether a token has the form of a JWT: three parts in base64url. */
export function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** Verifies JWTs. Loads the library and the keys at the first token. */
export class JwtVerifier {
  readonly #options: JwtOptions;
  readonly #subjects: ReadonlyMap<string, string>;
  readonly #keys: KeySet;
  readonly #deps: JwtDeps;
  readonly #logger: Logger;
  readonly #turns = new FairQueue();
  /** By hash of the token, the oldest first. */
  readonly #verified = new Map<string, VerifiedToken>();

  /**
   * @param subjects the approvers' names by their subject
   * @param keys those of `options.jwks`
   */
  constructor(options: JwtOptions, subjects: ReadonlyMap<string, string>, deps: JwtDeps, logger: Logger, keys: KeySet) {
    this.#options = options;
    this.#subjects = subjects;
    this.#keys = keys;
    this.#deps = deps;
    this.#logger = logger;
  }

  /**
   * Returns the approver of a token, or why it is rejected. Runs cheap checks first, so that it neither fetches a key
   * nor verifies a signature for a token that cannot be valid.
   * @param network the sender's: verifications take turns by network
   * @throws BridgeError BRIDGE_JWT_* if the keys are not available
   */
  async verify(token: string, network: string): Promise<JwtVerdict> {
    const hash = createHash('sha256').update(token).digest('base64');
    const known = this.#verifiedBefore(hash);
    if (known !== null) return { kind: 'approver', name: known };
    const unverified = await readUnverified(token);
    if (unverified === null) return this.#refuse('not a JWT', UNVERIFIED);
    const early = this.#earlyFault(unverified);
    if (early !== null) return early;
    return await this.#prove(token, hash, unverified.header, network);
  }

  /** Verifies the signature. Starts again if the keys change meanwhile, so that a withdrawn key verifies no token. */
  async #prove(token: string, hash: string, header: JWSHeaderParameters, network: string): Promise<JwtVerdict> {
    for (;;) {
      const { generation } = this.#keys;
      const key = await this.#keys.keyFor(header);
      if (generation !== this.#keys.generation) continue;
      if (key === null) return this.#refuse('no matching key in the key set', UNVERIFIED);
      const payload = await this.#turns.take(network, () => this.#verifySignature(token, key));
      if (generation !== this.#keys.generation) continue;
      if (typeof payload === 'string') return this.#refuse(payload, UNVERIFIED);
      const [name, ...others] = this.#ownersIn(payload);
      if (name === undefined || others.length > 0)
        return this.#refuse('its claim names no approver, or several', UNVERIFIED);
      this.#remember(hash, name, payload, generation);
      return { kind: 'approver', name };
    }
  }

  /** Returns the claims of a token with a valid signature, or an error code. */
  async #verifySignature(token: string, key: CryptoKey): Promise<JWTPayload | string> {
    const { jwtVerify } = await import('./jwt-library.ts');
    const { algorithms, issuer, audiences, clockToleranceMs } = this.#options;
    const options = {
      ...{ algorithms: [...algorithms], issuer, audience: [...audiences], requiredClaims: ['exp'] },
      ...{ clockTolerance: clockToleranceMs / 1000, currentDate: new Date(this.#deps.wallMs()) },
    };
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      // jose throws a TypeError for a weak key.
      return codeOf(error) ?? 'the key cannot be used';
    }
  }

  /** Checks the claims before the signature, which is verified with them later. */
  #earlyFault({ header, payload }: UnverifiedToken): JwtVerdict | null {
    const { algorithms, types, issuer, audiences, clockToleranceMs, maxLifetimeMs } = this.#options;
    const { iss, aud, exp, nbf } = payload;
    const nowMs = this.#deps.wallMs();
    if (!algorithms.includes(header.alg))
      return this.#refuse('another algorithm', 'its signature algorithm is not accepted here');
    if (types.length > 0 && !types.some((type) => plainType(type) === plainType(header.typ ?? '')))
      return this.#refuse('another type', 'its type (typ) is not accepted here');
    if (iss !== issuer) return this.#refuse('another issuer', 'its issuer (iss) is not trusted here');
    if (![aud].flat().some((name) => name !== undefined && audiences.includes(name)))
      return this.#refuse('another audience', 'it is for another audience (aud)');
    if (typeof exp !== 'number') return this.#refuse('no exp', 'it never expires (no exp)');
    if (nowMs >= exp * 1000 + clockToleranceMs) return this.#refuse('expired', EXPIRED);
    if (exp * 1000 - nowMs > maxLifetimeMs + clockToleranceMs)
      return this.#refuse('exp too far ahead', 'it is valid for too long (exp): get one that expires sooner');
    if (nbf !== undefined && !(typeof nbf === 'number' && nowMs >= nbf * 1000 - clockToleranceMs))
      return this.#refuse('not yet valid', EXPIRED);
    const owners = this.#ownersIn(payload);
    if (owners.length === 1) return null;
    return this.#refuse(
      owners.length === 0 ? 'its claim names no approver' : 'its claim names several approvers',
      UNVERIFIED,
    );
  }

  #ownersIn(payload: JWTPayload): string[] {
    const { claim } = this.#options;
    const value: unknown = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
    const subjects = (Array.isArray(value) ? value : [value]).filter((member) => typeof member === 'string');
    return [...new Set(subjects.flatMap((member) => this.#subjects.get(member) ?? []))];
  }

  #verifiedBefore(hash: string): string | null {
    const verified = this.#verified.get(hash);
    if (verified === undefined) return null;
    const { name, untilWallMs, generation } = verified;
    if (this.#deps.wallMs() < untilWallMs && this.#keys.areFresh && generation === this.#keys.generation) return name;
    this.#verified.delete(hash);
    return null;
  }

  #remember(hash: string, name: string, { exp = 0 }: JWTPayload, generation: number): void {
    const oldest = this.#verified.keys().next();
    if (this.#verified.size >= MOST_VERIFIED && !oldest.done) this.#verified.delete(oldest.value);
    this.#verified.set(hash, { name, untilWallMs: exp * 1000 + this.#options.clockToleranceMs, generation });
  }

  #refuse(why: string, reason: string): JwtVerdict {
    this.#logger.debug({ why }, 'a JWT was rejected');
    return { kind: 'refused', reason };
  }
}

/** Normalizes `typ`: the prefix `application/` is optional, and case does not matter (RFC 7515, section 4.1.9). */
function plainType(typ: string): string {
  return typ.toLowerCase().replace(/^application\/(?=[^/]*$)/, '');
}

/** Returns null if the token cannot be decoded. */
async function readUnverified(token: string): Promise<UnverifiedToken | null> {
  const { decodeJwt, decodeProtectedHeader } = await import('./jwt-library.ts');
  try {
    const header = decodeProtectedHeader(token);
    return { header: { ...header, alg: header.alg ?? '' }, payload: decodeJwt(token) };
  } catch {
    return null;
  }
}
