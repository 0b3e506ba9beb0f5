// The key `secrets`, and a request → `webhook-signature` (Standard Webhooks 1.0.0).
import { createHmac, sign as signDigest } from 'node:crypto';
import * as v from 'valibot';
import type { OptionFault } from '../../src/schema/faults.ts';
import { type EntriesOf, secret } from '../../src/schema/pieces.ts';
import { readWebhookSecret, type SigningKey } from '../../src/secrets/webhook-secret.ts';

/** Each secret adds one signature to every request. */
const MOST_SECRETS = 10;

export const signingEntries = {
  secrets: v.exactOptional(
    v.pipe(
      v.array(secret()),
      v.minLength(1, 'must not be empty: remove the key to send without signatures'),
      v.maxLength(MOST_SECRETS, `must contain at most ${MOST_SECRETS} secrets`),
      v.description(
        'Secrets of Standard Webhooks: whsec_…, whsk_… or an Ed25519 private key in PEM, each as { env: NAME } or { file: PATH }. Every one signs, in order. Default none.',
      ),
    ),
  ),
};

type SigningOptions = EntriesOf<typeof signingEntries>;

export function signingSecretFaults({ secrets = [] }: SigningOptions): readonly OptionFault[] {
  return secrets.flatMap((each, index) => {
    const key = readWebhookSecret(each.reveal());
    return 'fault' in key ? [{ key: `secrets[${index}]`, message: key.fault }] : [];
  });
}

/** Returns the value of `webhook-signature`, or null without secrets. @param timestampS whole seconds since 1970 */
export type Sign = (id: string, timestampS: number, body: Uint8Array) => string | null;

/**
 * Returns a function that signs with every key, in order. During a key rotation a receiver may have the old or the new
 * secret.
 */
export function signer(keys: readonly SigningKey[]): Sign {
  if (keys.length === 0) return () => null;
  return (id, timestampS, body) => keys.map((key) => signature(key, `${id}.${timestampS}.`, body)).join(' ');
}

/** Signs `head` and the body's bytes. */
function signature({ version, key }: SigningKey, head: string, body: Uint8Array): string {
  if (version === 'v1') return `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`;
  return `v1a,${signDigest(null, Buffer.concat([Buffer.from(head), body]), key).toString('base64')}`;
}

/** Returns the keys of all secrets without a fault, in order. */
export function signingKeys({ secrets = [] }: SigningOptions): readonly SigningKey[] {
  return secrets.flatMap((each) => {
    const key = readWebhookSecret(each.reveal());
    return 'fault' in key ? [] : [key];
  });
}
