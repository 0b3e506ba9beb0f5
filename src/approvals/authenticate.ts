// The configured tokens and one that a caller brought → who the caller is, in a time that tells nothing about any of them.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../secret.ts';

/** Who may call: an approver may read too. */
export interface Principal {
  readonly kind: 'approver' | 'reader';
  readonly name: string;
}

export type Callers = Readonly<Record<string, { readonly tokens: readonly Secret[] }>>;

/** Reveals the tokens once and keeps their hashes alone. The returned function answers null for a token that nobody has. */
export function createAuthenticator(callers: {
  readonly approvers: Callers;
  readonly readers: Callers;
}): (token: string) => Principal | null {
  const known = [...entries('approver', callers.approvers), ...entries('reader', callers.readers)];
  return (token) => {
    const given = digest(token);
    let found: Principal | null = null;
    // Every token is compared, also after a match: how long it takes depends on their number alone.
    for (const { hash, principal } of known) if (timingSafeEqual(hash, given)) found = principal;
    return found;
  };
}

function entries(kind: Principal['kind'], callers: Callers): { readonly hash: Buffer; readonly principal: Principal }[] {
  return Object.entries(callers).flatMap(([name, { tokens }]) =>
    tokens.map((token) => ({ hash: digest(token.reveal()), principal: { kind, name } })),
  );
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
