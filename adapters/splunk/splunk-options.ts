// The configuration of a Splunk sink → checked options, and the faults of its token.
import * as v from 'valibot';
import type { OptionFault } from '../../src/schema/faults.ts';
import { flag, secret } from '../../src/schema/pieces.ts';
import { headerFault } from '../http/authorization.ts';
import { connectionEntries } from '../http/connections.ts';
import {
  batchEntries,
  compressionEntry,
  httpChecks,
  httpEntries,
  ownAuthorization,
  timeoutEntry,
} from '../http/http-options.ts';

/** Paths of the collector's endpoints, which the base URL must not have. */
const EVENT_PATH = /\/services\/collector(\/event(\/1\.0)?)?\/*$/;

const optionalText = (description: string) =>
  v.exactOptional(v.pipe(v.string(), v.minLength(1), v.description(description)));

/** The Splunk sink's options (behaviour 9.4). */
export const splunkOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('splunk')), v.description('The kind of sink.')),
    ...httpEntries,
    timeout: timeoutEntry(
      '30s',
      'Limit for one delivery, from the connection to the answer or, with acknowledge, to the acknowledgment.',
    ),
    token: v.pipe(secret(), v.description('The token of the HTTP Event Collector: { env: NAME } or { file: PATH }.')),
    index: optionalText('The index to write to. Default: that of the token.'),
    source: optionalText("The `source` of every event. Default: the CloudEvent's own source."),
    sourcetype: v.pipe(
      v.optional(v.pipe(v.string(), v.minLength(1)), 'scheduled-events-bridge'),
      v.description('The `sourcetype` of every event. Default scheduled-events-bridge.'),
    ),
    acknowledge: flag(
      false,
      'true: a delivery counts as accepted when the indexer has acknowledged it within timeout. Needs a token with indexer acknowledgment. Default false.',
    ),
    compression: compressionEntry('none'),
    ...batchEntries('', { members: 500, bytes: '1MiB', isCompressible: true }),
    ...connectionEntries,
  }),
  httpChecks(),
  ownAuthorization('token'),
);

export type SplunkOptions = v.InferOutput<typeof splunkOptions>;

export function tokenFaults({ token }: SplunkOptions): readonly OptionFault[] {
  const fault = headerFault(token.reveal());
  return fault === null ? [] : [{ key: 'token', message: fault }];
}

/** Returns the base URL of the collector. `url` may have the path of its events. */
export function collectorBase(url: URL): URL {
  const base = new URL(url);
  base.pathname = url.pathname.replace(EVENT_PATH, '');
  return base;
}
