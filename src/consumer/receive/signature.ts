// A delivery → verified (Standard Webhooks 1.0.0: `v1`, `v1a`), or a ConsumerError.
import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify as verifyDigest } from 'node:crypto';
import { readWebhookSecret } from '../../secrets/webhook-secret.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';

interface SignatureOptions {
  /** `whsec_…`, and `whpk_…` for Ed25519. One valid signature is enough, so that a secret can be replaced. */
  readonly secrets: readonly string[];
  /** How far `webhook-timestamp` may be from now, in either direction. */
  readonly toleranceMs: number;
}

/**
 * Returns the `webhook-id`.
 * @throws ConsumerError `unauthorized`
 */
export type Verify = (header: (name: string) => string | null, body: Uint8Array) => string;

type Key = { readonly version: 'v1' | 'v1a'; readonly key: KeyObject };

const SYMMETRIC = 'whsec_';
const PUBLIC = 'whpk_';
const PUBLIC_BYTES = 32;
const ED25519_BYTES = 64;
/**
 * A sink signs with each of its secrets. Only so many signatures are checked, because each check reads an unverified
 * body.
 */
const MOST_SIGNATURES = 32;

/** @throws ConsumerError `usage` for a secret that is not valid */
export function signatureVerifier({ secrets, toleranceMs }: SignatureOptions, clock: Pick<Clock, 'wallMs'>): Verify {
  const keys = secrets.map(readKey);
  return (header, body) => {
    const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
      (name) => header(name) ?? '',
    );
    if (!id || !timestamp || !signatures)
      throw unauthorized('webhook-id, webhook-timestamp and webhook-signature are required');
    if (!/^\d{1,12}$/.test(timestamp)) throw unauthorized('webhook-timestamp must be whole seconds since 1970');
    if (Math.abs(clock.wallMs() - Number(timestamp) * 1000) > toleranceMs)
      throw unauthorized(`webhook-timestamp is more than ${toleranceMs / 1000} s away from this machine's clock`);
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
    const given = signatures.split(' ', MOST_SIGNATURES);
    if (!keys.some((key) => isSignedWith(key, given, signed)))
      throw unauthorized('no signature is valid for the body and the secrets of this receiver');
    return id;
  };
}

/** Returns true if one of the signatures was made with the key. */
function isSignedWith({ version, key }: Key, signatures: readonly string[], signed: Uint8Array): boolean {
  const given = signatures.flatMap((signature) => {
    const [name, value = ''] = signature.split(',', 2);
    return name === version ? [Buffer.from(value, 'base64')] : [];
  });
  if (version === 'v1a')
    return given.some((bytes) => bytes.length === ED25519_BYTES && verifyDigest(null, signed, key, bytes));
  const expected = createHmac('sha256', key).update(signed).digest();
  return given.some((bytes) => bytes.length === expected.length && timingSafeEqual(bytes, expected));
}

function readKey(secret: string): Key {
  if (secret.startsWith(PUBLIC)) return { version: 'v1a', key: publicKey(secret.slice(PUBLIC.length)) };
  const read = readWebhookSecret(secret);
  if ('fault' in read && secret.startsWith(SYMMETRIC)) throw new ConsumerError('usage', `a secret ${read.fault}`);
  if ('fault' in read)
    throw new ConsumerError(
      'usage',
      'a secret must be whsec_…, as in the bridge, or whpk_…, the public key of the bridge',
    );
  if (read.version === 'v1') return read;
  throw new ConsumerError(
    'usage',
    'a secret is a private key, which belongs only to the bridge: give the public one (whpk_…)',
  );
}

function publicKey(base64: string): KeyObject {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== PUBLIC_BYTES)
    throw new ConsumerError('usage', `a secret must have 32 bytes of base64 after ${PUBLIC}`);
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' });
}

function unauthorized(why: string): ConsumerError {
  return new ConsumerError('unauthorized', `the delivery is not verified: ${why}`);
}
