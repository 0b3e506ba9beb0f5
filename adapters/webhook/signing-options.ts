// What the configuration says of signatures → its key, and, once its secrets are open, the keys that every request is signed with.
import * as v from 'valibot';
import { secret } from '../../src/schema/pieces.ts';
import type { Secret } from '../../src/secrets/secret.ts';
import { readWebhookSecret, type SigningKey } from '../../src/secrets/webhook-secret.ts';
import type { OptionFault } from '../adapter.ts';

/** Each makes one more signature of every request. */
const MOST_SECRETS = 10;

export const signingEntries = {
  secrets: v.exactOptional(
    v.pipe(
      v.array(secret()),
      v.minLength(1, 'must not be empty: leave the key out to send without signatures'),
      v.maxLength(MOST_SECRETS, `must hold at most ${MOST_SECRETS} secrets`),
      v.description(
        'Secrets of Standard Webhooks: whsec_…, whsk_… or an Ed25519 private key in PEM, each by { env: NAME } or { file: PATH }. Every one signs, in order. Default none.',
      ),
    ),
  ),
};

export interface SigningOptions {
  readonly secrets?: readonly Secret[];
}

/** What is wrong with the values of the secrets. */
export function signingSecretFaults({ secrets = [] }: SigningOptions): readonly OptionFault[] {
  return secrets.flatMap((each, index) => {
    const key = readWebhookSecret(each.reveal());
    return 'fault' in key ? [{ key: `secrets[${index}]`, message: key.fault }] : [];
  });
}

/** The keys of secrets that have no fault, in their order. */
export function signingKeys({ secrets = [] }: SigningOptions): readonly SigningKey[] {
  return secrets.flatMap((each) => {
    const key = readWebhookSecret(each.reveal());
    return 'fault' in key ? [] : [key];
  });
}
