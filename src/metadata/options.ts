// The section `metadata` → schema and types: the address of the service and how it is polled.
import * as v from 'valibot';
import { API_VERSIONS } from '../model/api-versions.ts';
import { durationBetween, type OptionsOf } from '../schema/pieces.ts';

/** Whether it is `discover` or an http URL with only host and port: the service supports neither TLS nor passwords. */
export function isEndpoint(text: string): boolean {
  if (text === 'discover') return true;
  const url = URL.parse(text);
  return url !== null && url.protocol === 'http:' && url.pathname === '/' && !/[@?#\s]/.test(text);
}

export const metadataSection = v.pipe(
  v.strictObject({
    endpoint: v.optional(
      v.pipe(
        v.string(),
        v.check(
          isEndpoint,
          'must be "discover" or an http URL with only host and port, such as http://169.254.169.254',
        ),
        v.description(
          'The address of the metadata service: an http URL without a path, or "discover" for a VM outside a virtual network, which gets the address by DHCP.',
        ),
        v.transform((text) => (text === 'discover' ? text : new URL(text).origin)),
      ),
      'http://169.254.169.254',
    ),
    apiVersion: v.optional(
      v.pipe(
        v.picklist([...API_VERSIONS, 'newest']),
        v.description(
          'The api-version to request. "newest" starts with the newest one, falls back while the service rejects it, then keeps the accepted one.',
        ),
      ),
      '2020-07-01',
    ),
    pollInterval: v.optional(
      durationBetween('50ms', '30s', 'The time from the start of one poll to the start of the next.'),
      '1s',
    ),
    timeout: v.optional(durationBetween('100ms', '5m', 'How long an answer of the metadata service may take.'), '10s'),
    firstTimeout: v.optional(
      durationBetween(
        '100ms',
        '10m',
        'The same if the store has no good document of the last 24 h: the first request enables the service.',
      ),
      '130s',
    ),
    settle: v.optional(
      durationBetween('0s', '1h', 'How long a missing event does not count as ended in a new epoch.'),
      '5m',
    ),
  }),
  v.transform(({ endpoint, apiVersion, pollInterval, timeout, firstTimeout, settle }) => ({
    endpoint,
    apiVersion,
    pollIntervalMs: pollInterval,
    timeoutMs: timeout,
    firstTimeoutMs: firstTimeout,
    settleMs: settle,
  })),
  v.description('The metadata service and how it is polled.'),
);

export type MetadataOptions = OptionsOf<typeof metadataSection>;
