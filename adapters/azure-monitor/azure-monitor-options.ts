// The configuration of an Azure Monitor sink → checked options.
import * as v from 'valibot';
import { azureCredentialEntries, azureCredentialFaults } from '../../src/azure/options.ts';
import { connectionEntries } from '../http/connections.ts';
import { batchEntries, endpointEntries, httpChecks } from '../http/http-options.ts';
import { holdsAuthorization } from '../http/oauth/oauth-options.ts';

const RULE_FAULT = 'must be the immutable id of a data collection rule, such as dcr-00000000000000000000000000000000';
const STREAM_FAULT = 'must be a stream that the rule declares, such as Custom-ScheduledEvents';

const keys = v.strictObject({
  type: v.pipe(v.optional(v.literal('azure-monitor')), v.description('The kind of sink.')),
  ...endpointEntries(
    'The logs ingestion URL of a data collection endpoint, or of the rule itself: https://NAME.REGION-1.ingest.monitor.azure.com.',
  ),
  rule: v.pipe(
    v.string(),
    v.regex(/^dcr-[0-9a-z]{1,64}$/, RULE_FAULT),
    v.description('The immutable id of the data collection rule, dcr-…, not its name or resource id.'),
  ),
  stream: v.pipe(
    v.string(),
    v.regex(/^Custom-[A-Za-z0-9_-]{1,128}$/, STREAM_FAULT),
    v.description("The rule's stream for the records, Custom-…."),
  ),
  ...azureCredentialEntries,
  ...batchEntries('', { members: 500, bytes: '1MiB', isCompressible: true, most: '1MiB' }),
  ...connectionEntries,
});

/** The Azure Monitor sink's options (behaviour 9.7). */
export const azureMonitorOptions = v.pipe(
  keys,
  httpChecks<v.InferOutput<typeof keys>>((options) => [
    ...azureCredentialFaults(options).map(({ key, message }) => ({ path: [key] as const, message })),
    ...(holdsAuthorization(options.headers) ? [{ path: ['headers'] as const, message: AUTHORIZATION_FAULT }] : []),
  ]),
);

const AUTHORIZATION_FAULT = 'contains authorization, which the sink sets from its Microsoft Entra ID token: remove it';

export type AzureMonitorOptions = v.InferOutput<typeof azureMonitorOptions>;
