// A request's id, the time and its body → `webhook-signature` (Standard Webhooks 1.0.0).
import { createHmac, sign as signDigest } from 'node:crypto';
import type { SigningKey } from '../../src/secrets/webhook-secret.ts';

/** Null where nothing signs. @param timestampS whole seconds since 1970 */
export type Sign = (id: string, timestampS: number, body: Uint8Array) => string | null;

/** Every key signs, in the order given, so that a receiver may know the old secret or the new one while they are being replaced. */
export function signer(keys: readonly SigningKey[]): Sign {
  if (keys.length === 0) return () => null;
  return (id, timestampS, body) => keys.map((key) => signature(key, `${id}.${timestampS}.`, body)).join(' ');
}

/** Over `head` and the body's bytes. */
function signature({ version, key }: SigningKey, head: string, body: Uint8Array): string {
  if (version === 'v1') return `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`;
  return `v1a,${signDigest(null, Buffer.concat([Buffer.from(head), body]), key).toString('base64')}`;
}
