// A token as clients put it → who it is and what it may do until when, or why it is not taken.
import { createHmac, timingSafeEqual } from 'node:crypto';

export type Claim = 'Send' | 'Listen' | 'Manage';

export interface Grant {
  readonly claims: readonly Claim[];
  /** Milliseconds since 1970; Infinity where the token does not say. */
  readonly expiresAt: number;
}

/** A shared access key, and what its holder may do. */
export interface AccessKey {
  readonly key: string;
  readonly claims: readonly Claim[];
}

export const SAS_TYPE = 'servicebus.windows.net:sastoken';
export const JWT_TYPE = 'jwt';

/** What a bearer of an Entra token may do; null refuses it. The token is whatever the client sent. */
export type JwtCheck = (token: string) => readonly Claim[] | null;

/** A grant, or the text beside the 401. */
export function judgeToken(
  token: { readonly text: string; readonly type: string; readonly audience: string },
  keys: ReadonlyMap<string, AccessKey>,
  checkJwt: JwtCheck,
  now: number,
): Grant | string {
  const judged =
    token.type === SAS_TYPE ? judgeSas(token, keys) : token.type === JWT_TYPE ? judgeJwt(token.text, checkJwt) : null;
  if (judged === null) return `InvalidToken: the token type '${token.type}' is not supported.`;
  if (typeof judged === 'string') return judged;
  return judged.expiresAt > now
    ? judged
    : `ExpiredToken: The token is expired. Expiration time: '${new Date(judged.expiresAt).toISOString()}'.`;
}

function judgeSas(
  token: { readonly text: string; readonly audience: string },
  keys: ReadonlyMap<string, AccessKey>,
): Grant | string {
  const fields = new Map(
    token.text
      .replace(/^SharedAccessSignature\s+/, '')
      .split('&')
      .map((field) => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)]),
  );
  const raw = (name: string) => fields.get(name) ?? '';
  const [resource, name, expiry] = [decodeURIComponent(raw('sr')), decodeURIComponent(raw('skn')), raw('se')];
  const key = keys.get(name);
  if (!key) return `InvalidSignature: The key '${name}' is not known.`;
  const signed = createHmac('sha256', key.key)
    .update(`${raw('sr')}\n${expiry}`)
    .digest('base64');
  if (!same(signed, decodeURIComponent(raw('sig')))) return 'InvalidSignature: The token has an invalid signature.';
  if (!covers(resource, token.audience))
    return `InvalidAudience: The authorization header contains a token for '${resource}'.`;
  return { claims: key.claims, expiresAt: Number(expiry) * 1000 };
}

function judgeJwt(text: string, check: JwtCheck): Grant | string {
  const claims = check(text);
  return claims ? { claims, expiresAt: expiryOf(text) } : 'InvalidToken: The token could not be validated.';
}

/** `exp` of a JWT; texts that are none do not expire. */
function expiryOf(text: string): number {
  const payload = Buffer.from(text.split('.')[1] ?? '', 'base64url').toString('utf8');
  const exp = /"exp":\s*(\d+)/.exec(payload)?.[1];
  return exp === undefined ? Number.POSITIVE_INFINITY : Number(exp) * 1000;
}

function covers(resource: string, audience: string): boolean {
  const [wide, narrow] = [placeOf(resource), placeOf(audience)];
  return narrow === wide || narrow.startsWith(`${wide}/`);
}

/** Host and path alone. */
function placeOf(uri: string): string {
  return uri
    .toLowerCase()
    .replace(/\?.*$/, '')
    .replace(/\/+$/, '')
    .replace(/^[a-z]+:\/\/([^/:]+)(:\d+)?/, '$1');
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
