// What the configuration says of JSON Web Tokens, as their judge takes it. Types alone.

import type { TlsOptions } from '../net/tls-options.ts';
import type { Secret } from '../secrets/secret.ts';

/** `approvals.jwt`; secrets are open. */
export interface JwtOptions {
  readonly issuer: string;
  /** One of them must be in `aud`. */
  readonly audiences: readonly string[];
  /** A URL, or a file that holds the key set. */
  readonly jwks: string | Secret;
  /** Text, or a list of texts of which any counts. */
  readonly claim: string;
  readonly algorithms: readonly string[];
  /** What `typ` of the header may be; empty: whatever it is. */
  readonly types: readonly string[];
  readonly clockToleranceMs: number;
  /** How far `exp` may lie ahead. */
  readonly maxLifetimeMs: number;
  /** Ranges that the URL may lead to in spite of being private. */
  readonly allowPrivate: readonly string[];
  readonly tls: TlsOptions | null;
}
