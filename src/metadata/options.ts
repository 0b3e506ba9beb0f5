// The section `metadata`: where the service is and how it is polled → schema and types.
import * as v from 'valibot';
import { API_VERSIONS } from '../model/api-versions.ts';
import { durationBetween, type OptionsOf } from '../schema/pieces.ts';

/** An http URL of host and port, nothing else: the metadata service speaks neither TLS nor passwords. */
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
        v.check(isEndpoint, 'must be "discover" or an http URL with nothing behind host and port, such as http://169.254.169.254'),
        v.description(
          'Where the metadata service is: an http URL without a path, or "discover" for a VM outside a virtual network, whose address comes by DHCP.',
        ),
        v.transform((text) => (text === 'discover' ? text : new URL(text).origin)),
      ),
      'http://169.254.169.254',
    ),
    apiVersion: v.optional(
      v.pipe(
        v.picklist([...API_VERSIONS, 'newest']),
        v.description(
          'The api-version to ask for. "newest" starts at the newest one, falls back while the service refuses it, then stays.',
        ),
      ),
      '2020-07-01',
    ),
    pollInterval: v.optional(durationBetween('50ms', '30s', 'From the start of one poll to the start of the next.'), '1s'),
    timeout: v.optional(durationBetween('100ms', '5m', 'How long an answer of the metadata service may take.'), '10s'),
    firstTimeout: v.optional(
      durationBetween(
        '100ms',
        '10m',
        'The same where no good document of the last 24 h is stored: the first answer switches the service on.',
      ),
      '130s',
    ),
    settle: v.optional(durationBetween('0s', '1h', 'How long an absence proves nothing in a new epoch.'), '5m'),
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
