// A Standard Webhooks secret in text form ↔ the key that signs and the key that verifies.
import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';

/** A signing key: a shared secret for HMAC-SHA256 (`v1`), or a private key for Ed25519 (`v1a`). */
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

const SHAPES = `must be ${SYMMETRIC} or ${PRIVATE} and base64, or an Ed25519 private key in PEM (PKCS#8); \`scheduled-events-bridge secret\` creates one`;
const NO_BASE64 = 'must have base64 after its prefix: the standard alphabet, padded, without spaces or line ends';

/** @returns the key, or a fault that does not quote the value */
export function readWebhookSecret(text: string): SigningKey | { readonly fault: string } {
  if (text.startsWith(SYMMETRIC)) return symmetric(text.slice(SYMMETRIC.length));
  if (text.startsWith(PRIVATE)) return ed25519(text.slice(PRIVATE.length));
  if (text.startsWith(PUBLIC))
    return { fault: `is a public key, which belongs to the receiver: use the private key (${PRIVATE}…)` };
  if (text.trimStart().startsWith('-----BEGIN ')) return pem(text);
  return { fault: SHAPES };
}

/** Returns `whsec_…` for the bytes of a key. */
export function symmetricSecret(key: Uint8Array): string {
  return SYMMETRIC + Buffer.from(key).toString('base64');
}

/** Returns `whsk_…` for an Ed25519 seed. */
export function ed25519Secret(seed: Uint8Array): string {
  return PRIVATE + Buffer.from(seed).toString('base64');
}

/** Returns `whpk_…` for a private key: the public key of the receivers. */
export function publicKeyOf(key: KeyObject): string {
  return PUBLIC + publicBytes(key).toString('base64');
}

function symmetric(base64: string): SigningKey | { readonly fault: string } {
  const bytes = decode(base64);
  if (bytes === null) return { fault: NO_BASE64 };
  if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) {
    return { fault: `must have ${LEAST_BYTES} to ${MOST_BYTES} bytes after ${SYMMETRIC}, not ${bytes.length}` };
  }
  return { version: 'v1', key: createSecretKey(bytes) };
}

/**
 * The specification does not define the content of `whsk_`: this accepts the seed, or seed and public key, as many
 * libraries write it.
 */
function ed25519(base64: string): SigningKey | { readonly fault: string } {
  const bytes = decode(base64);
  if (bytes === null) return { fault: NO_BASE64 };
  if (bytes.length !== SEED_BYTES && bytes.length !== 2 * SEED_BYTES) {
    return { fault: `must have 32 bytes (the seed) or 64 (seed and public key) after ${PRIVATE}, not ${bytes.length}` };
  }
  const der = Buffer.concat([PKCS8_HEAD, bytes.subarray(0, SEED_BYTES)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const given = bytes.subarray(SEED_BYTES);
  if (given.length > 0 && !given.equals(publicBytes(key)))
    return { fault: 'has a public key that does not match its seed' };
  return { version: 'v1a', key };
}

function pem(text: string): SigningKey | { readonly fault: string } {
  if (/-----BEGIN (ENCRYPTED|[A-Z0-9 ]{0,20}PUBLIC|CERTIFICATE)/.test(text))
    return { fault: 'must be an unencrypted private key in PEM (PKCS#8)' };
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyType === 'ed25519'
      ? { version: 'v1a', key }
      : { fault: 'must be an Ed25519 key, not another type of key' };
  } catch {
    return { fault: 'has PEM that is not a private key' };
  }
}

/** Returns the last 32 bytes of the key's SPKI (RFC 8410). */
function publicBytes(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES);
}

/** Returns null unless the text is exactly the canonical base64. */
function decode(base64: string): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : null;
}
