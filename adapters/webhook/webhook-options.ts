// The configuration of a webhook → checked options, and the faults of open secrets.
import * as v from 'valibot';
import type { OptionFault } from '../../src/schema/faults.ts';
import { connectionEntries } from '../http/connections.ts';
import { httpChecks, httpEntries, httpSecretFaults } from '../http/http-options.ts';
import { oauthEntries } from '../http/oauth/oauth-options.ts';
import { azureEntries, azureFaults } from './azure-identity.ts';
import { consentEntries, namesOrigin, ORIGIN_FAULT } from './consent.ts';
import { bodyEntries } from './encoder.ts';
import { signingEntries, signingSecretFaults } from './signing.ts';
import { MODE_FAULT, modeFits, templateEntries } from './template/template-options.ts';

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
  v.forward(
    v.check((options) => namesOrigin(options), ORIGIN_FAULT),
    ['origin'],
  ),
  v.forward(
    v.check((options) => modeFits(options), MODE_FAULT),
    ['mode'],
  ),
);

export type WebhookOptions = v.InferOutput<typeof webhookOptions>;

/** Returns the faults of the values of a webhook's secrets. */
export function secretFaults(options: WebhookOptions): readonly OptionFault[] {
  return [...httpSecretFaults(options), ...signingSecretFaults(options)];
}
