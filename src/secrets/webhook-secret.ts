// A Standard Webhooks secret as written ↔ the key that signs and the one that verifies.
import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';

/** What signs: with a secret by HMAC-SHA256 (`v1`), with a private key by Ed25519 (`v1a`). */
export type SigningKey = { readonly version: 'v1' | 'v1a'; readonly key: KeyObject };

const SYMMETRIC = 'whsec_';
const PRIVATE = 'whsk_';
const PUBLIC = 'whpk_';
/** Bytes of a symmetric key (Standard Webhooks 1.0.0). */
const LEAST_BYTES = 24;
const MOST_BYTES = 64;
export const SEED_BYTES = 32;
/** PKCS#8 of an Ed25519 private key (RFC 8410) up to its seed. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

const SHAPES = `must be ${SYMMETRIC} or ${PRIVATE} and base64, or an Ed25519 private key in PEM (PKCS#8); \`scheduled-events-bridge secret\` makes a good one`;
const NO_BASE64 = 'must hold base64 behind its prefix: the standard alphabet, padded, without spaces or line ends';

/** `fault` says what is wrong, without the value. */
export function readWebhookSecret(text: string): SigningKey | { readonly fault: string } {
  if (text.startsWith(SYMMETRIC)) return symmetric(text.slice(SYMMETRIC.length));
  if (text.startsWith(PRIVATE)) return ed25519(text.slice(PRIVATE.length));
  if (text.startsWith(PUBLIC)) return { fault: `is a public key, which is for the receiver: give the private one (${PRIVATE}…)` };
  if (text.trimStart().startsWith('-----BEGIN ')) return pem(text);
  return { fault: SHAPES };
}

/** `whsec_…` of a key's bytes. */
export function symmetricSecret(key: Uint8Array): string {
  return SYMMETRIC + Buffer.from(key).toString('base64');
}

/** `whsk_…` of an Ed25519 seed. */
export function ed25519Secret(seed: Uint8Array): string {
  return PRIVATE + Buffer.from(seed).toString('base64');
}

/** `whpk_…`: what a receiver verifies with, from the private key. */
export function publicKeyOf(key: KeyObject): string {
  return PUBLIC + publicBytes(key).toString('base64');
}

function symmetric(base64: string): SigningKey | { readonly fault: string } {
  const bytes = decode(base64);
  if (bytes === null) return { fault: NO_BASE64 };
  if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) {
    return { fault: `must hold ${LEAST_BYTES} to ${MOST_BYTES} bytes behind ${SYMMETRIC}, not ${bytes.length}` };
  }
  return { version: 'v1', key: createSecretKey(bytes) };
}

/** The specification does not say what `whsk_` holds: both the seed and, as many libraries keep it, seed and public key are understood. */
function ed25519(base64: string): SigningKey | { readonly fault: string } {
  const bytes = decode(base64);
  if (bytes === null) return { fault: NO_BASE64 };
  if (bytes.length !== SEED_BYTES && bytes.length !== 2 * SEED_BYTES) {
    return { fault: `must hold 32 bytes (the seed) or 64 (seed and public key) behind ${PRIVATE}, not ${bytes.length}` };
  }
  const der = Buffer.concat([PKCS8_HEAD, bytes.subarray(0, SEED_BYTES)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const given = bytes.subarray(SEED_BYTES);
  if (given.length > 0 && !given.equals(publicBytes(key))) return { fault: 'holds a public key that does not belong to its seed' };
  return { version: 'v1a', key };
}

function pem(text: string): SigningKey | { readonly fault: string } {
  if (/-----BEGIN (ENCRYPTED|[A-Z0-9 ]{0,20}PUBLIC|CERTIFICATE)/.test(text))
    return { fault: 'must be an unencrypted private key in PEM (PKCS#8)' };
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyType === 'ed25519' ? { version: 'v1a', key } : { fault: 'must be an Ed25519 key, not one of another kind' };
  } catch {
    return { fault: 'holds PEM that is no private key' };
  }
}

/** The last 32 bytes of its SPKI (RFC 8410). */
function publicBytes(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES);
}

/** Null of anything but the one spelling that encoding gives. */
function decode(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : null;
}
