// A request's credentials and the configured callers → the caller, in constant time for tokens.
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import type { Authentication, ClientCertificate, Credentials } from './caller.ts';
import { type JwtDeps, JwtVerifier, looksLikeJwt } from './jwt.ts';
import type { KeySet } from './key-set.ts';
import type { ApproverCredentials, JwtOptions } from './options.ts';
import { type TokenOwners, TokenStore } from './token-store.ts';

export interface AuthenticatorParts {
  readonly approvers: Readonly<Record<string, ApproverCredentials>>;
  readonly readers: TokenOwners;
  /** Null: JWTs are rejected. */
  readonly jwt: JwtOptions | null;
  /** Those of `jwt`. */
  readonly keys: KeySet | null;
  readonly deps: JwtDeps;
  readonly logger: Logger;
}

const RETRY_AFTER_SECONDS = 5;

/**
 * Returns a function that identifies callers. It checks configured tokens first, so that they do not depend on an
 * identity provider.
 */
export function createAuthenticator(parts: AuthenticatorParts): (credentials: Credentials) => Promise<Authentication> {
  const { approvers, jwt, keys, deps, logger } = parts;
  const tokens = new TokenStore(parts, deps, logger);
  const subjects = new Map(
    Object.entries(approvers).flatMap(([name, { subject }]) => (subject === null ? [] : [[subject, name] as const])),
  );
  const verifier = jwt && keys && new JwtVerifier(jwt, subjects, deps, logger, keys);
  return async ({ token, certificate, network }) => {
    if (token === null)
      return certificate === null ? nobody('Send Authorization: Bearer TOKEN.') : byCertificate(certificate, approvers);
    const owner = tokens.ownerOf(token);
    if (owner !== null) return { outcome: 'known', caller: { ...owner, via: 'token' } };
    if (verifier !== null && looksLikeJwt(token)) return await byJwt(verifier, token, network);
    return nobody('This token is unknown; check it against the configuration of the bridge.');
  };
}

function byCertificate({ exact, dns }: ClientCertificate, approvers: AuthenticatorParts['approvers']): Authentication {
  const isNamed = (name: string) => exact.includes(name) || dns.includes(name.toLowerCase());
  const [name, ...others] = Object.entries(approvers).flatMap(([owner, { certificate }]) =>
    certificate !== null && isNamed(certificate) ? [owner] : [],
  );
  if (name === undefined)
    return nobody(
      'No approver has a name of this client certificate, and the request has no Authorization: Bearer TOKEN.',
    );
  if (others.length > 0)
    return nobody(
      'This client certificate has the names of several approvers; use a certificate with the name of one.',
    );
  return { outcome: 'known', caller: { kind: 'approver', name, via: 'certificate' } };
}

async function byJwt(verifier: JwtVerifier, token: string, network: string): Promise<Authentication> {
  try {
    const verdict = await verifier.verify(token, network);
    if (verdict.kind === 'approver')
      return { outcome: 'known', caller: { kind: 'approver', name: verdict.name, via: 'jwt' } };
    return nobody(`This token is rejected: ${verdict.reason}.`);
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    const detail = `${error.code}: the bridge cannot fetch the keys of the identity provider now, so it cannot verify this token; its log has the reason. Retry later.`;
    return { outcome: 'unavailable', detail, retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
}

function nobody(detail: string): Authentication {
  return { outcome: 'nobody', detail };
}
