// The kind `azure-monitor`: options → an adapter that posts records to a data collection rule.
import * as v from 'valibot';
import { azureCredentialEntries, azureCredentialFaults } from '../../src/azure/options.ts';
import { toColumns } from '../../src/log-record/columns.ts';
import { logRecord } from '../../src/log-record/log-record.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import { reveal } from '../../src/secrets/secret.ts';
import type { AdapterDefinition, AdapterDeps, Outcome } from '../adapter.ts';
import type { RequestAuthorization } from '../http/authorization.ts';
import { connectionEntries } from '../http/connections.ts';
import { entraAuthorization } from '../http/entra-authorization.ts';
import { MISCONFIGURED_STATUS, type StatusMeaning } from '../http/failures.ts';
import { batchEntries, endpointEntries, httpChecks } from '../http/http-options.ts';
import { type HttpSinkKind, httpSink, type SinkContext, type SinkRequest } from '../http/http-sink.ts';
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
    ...azureCredentialFaults(options),
    ...(holdsAuthorization(options.headers) ? [{ key: 'headers', message: AUTHORIZATION_FAULT }] : []),
  ]),
);

const AUTHORIZATION_FAULT = 'contains authorization, which the sink sets from its Microsoft Entra ID token: remove it';

type AzureMonitorOptions = v.InferOutput<typeof azureMonitorOptions>;

/** Each cloud accepts only tokens for its own resource. */
const RESOURCES: readonly (readonly [host: RegExp, resource: string])[] = [
  [/\.azure\.us\.?$/i, 'https://monitor.azure.us'],
  [/\.azure\.cn\.?$/i, 'https://monitor.azure.cn'],
];

/** Returns the scope of a token for this endpoint's host. */
export function scopeOf(host: string): string {
  const resource = RESOURCES.find(([suffix]) => suffix.test(host))?.[1] ?? 'https://monitor.azure.com';
  return `${resource}/.default`;
}

const API_VERSION = '2023-01-01';
const ACCEPTED = 204;

/** Statuses with another meaning than in the common status table: they concern the rule, not an event. */
const STATUSES: Readonly<Record<number, StatusMeaning>> = {
  400: { ...MISCONFIGURED_STATUS, advice: 'check stream, and that the rule declares it with the columns of the sink' },
  401: { ...MISCONFIGURED_STATUS, advice: 'check that the identity belongs to the tenant of the rule' },
  403: {
    ...MISCONFIGURED_STATUS,
    advice: 'give the identity the role Monitoring Metrics Publisher on the rule; a new role takes up to half an hour',
  },
  404: {
    ...MISCONFIGURED_STATUS,
    advice: 'check endpoint, rule (its immutable id) and stream, and that the rule belongs to the endpoint',
  },
};

/** Posts arrays of records. The service does not find repeats: a repeat is a second row with the same EventId. */
export class LogsIngestion implements HttpSinkKind {
  readonly inFlight = 4;
  /** The message repeats the content of `data`. */
  readonly growth = 2;
  readonly statuses = STATUSES;
  readonly credentials = 'credential';
  readonly authorization: RequestAuthorization;
  readonly #path: string;

  constructor(options: AzureMonitorOptions, deps: AdapterDeps) {
    const { hostname } = new URL(reveal(options.endpoint));
    const parts = { scope: scopeOf(hostname), host: hostname, place: `sinks.${deps.name}`, timeout: options.timeout };
    this.authorization = entraAuthorization(options, deps, parts);
    this.#path = `/dataCollectionRules/${options.rule}/streams/${options.stream}?api-version=${API_VERSION}`;
  }

  encode(batch: readonly Delivery[]): SinkRequest {
    const records = batch.map(({ bytes }) => toColumns(logRecord(bytes)));
    return {
      path: this.#path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(records),
      gzip: true,
    };
  }

  async judge(first: HttpAnswer, batch: readonly Delivery[], context: SinkContext): Promise<readonly Outcome[]> {
    // The kit has dropped the rejected token, so this request gets a new one.
    const answer = first.status === 401 ? await context.post(this.encode(batch)) : first;
    const fault = context.faults.ofStatus(answer);
    if (fault !== null) throw fault;
    if (answer.status !== ACCEPTED) throw context.faults.noAnswer(answer.status, String(ACCEPTED));
    return batch.map(() => 'accepted');
  }
}

export const azureMonitorSink: AdapterDefinition<AzureMonitorOptions> = httpSink({
  type: 'azure-monitor',
  options: azureMonitorOptions,
  make: (options, deps) => new LogsIngestion(options, deps),
});
