// Configuration of a webhook → checked options; the faults of their secrets.
import * as v from 'valibot';
import type { OptionFault } from '../../src/schema/faults.ts';
import { rule } from '../../src/schema/pieces.ts';
import { connectionEntries } from '../http/connections.ts';
import { httpChecks, httpEntries, httpSecretFaults } from '../http/http-options.ts';
import { oauthEntries } from '../http/oauth/oauth-options.ts';
import { azureEntries, azureFaults } from './azure-identity.ts';
import { consentEntries, ORIGIN_FAULT } from './consent.ts';
import { bodyEntries } from './encoder.ts';
import { signingEntries, signingSecretFaults } from './signing.ts';
import { MODE_FAULT, templateEntries } from './template/template-options.ts';

const keys = v.strictObject({
  type: v.pipe(v.optional(v.literal('webhook')), v.description('The kind of sink.')),
  ...httpEntries,
  ...bodyEntries,
  ...templateEntries,
  ...signingEntries,
  ...consentEntries,
  ...connectionEntries,
  ...oauthEntries,
  ...azureEntries,
});

/** The webhook sink's options (behaviour 2.9). */
export const webhookOptions = v.pipe(
  keys,
  httpChecks<v.InferOutput<typeof keys>>(azureFaults),
  rule('origin', ({ handshake, origin }) => !handshake || origin !== undefined, ORIGIN_FAULT),
  rule('mode', ({ mode, body }) => body === undefined || mode === 'structured', MODE_FAULT),
);

export type WebhookOptions = v.InferOutput<typeof webhookOptions>;

export function webhookSecretFaults(options: WebhookOptions): readonly OptionFault[] {
  return [...httpSecretFaults(options), ...signingSecretFaults(options)];
}
