// The configuration's sections that say where documents come from, what their CloudEvents look like and where they are kept: schema and types.
import * as v from 'valibot';
import { API_VERSIONS } from '../model/api-versions.ts';
import { size } from '../schema/pieces.ts';
import { isUriReference } from '../schema/uri-reference.ts';
import { durationBetween } from './fields.ts';

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

export type MetadataSection = Readonly<v.InferOutput<typeof metadataSection>>;

/** What a URI is made of; how it is put together, `isUriReference` judges. */
const URI_CHARACTERS = "^(?:[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$";
const NOT_ENCODED = 'holds a character that no URI does, such as a space or é: percent-encode it (%20, %C3%A9)';
const NO_REFERENCE = 'must be empty (~), "vm" or a URI reference by RFC 3986, such as /subscriptions/S/resourcegroups/G';

export const cloudeventsSection = v.pipe(
  v.strictObject({
    source: v.optional(
      v.nullable(
        v.pipe(
          v.string(),
          v.regex(new RegExp(URI_CHARACTERS), NOT_ENCODED),
          v.check((text) => !new RegExp(URI_CHARACTERS).test(text) || isUriReference(text), NO_REFERENCE),
          v.description(
            'The CloudEvents\' source. Empty: the scope that instance metadata names. "vm": the same with the VM appended. Any other text is taken as it is.',
          ),
        ),
      ),
      null,
    ),
    typePrefix: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(200, 'must have at most 200 characters'),
        v.regex(
          /^[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9][A-Za-z0-9-]*)*$/,
          'must be a reversed domain name without a dot at its end, such as com.example.maintenance',
        ),
        v.description("What the CloudEvents' types begin with, without a dot at its end."),
      ),
      'io.github.scheduled-events-bridge',
    ),
  }),
  v.description('What the CloudEvents look like.'),
);

export type CloudeventsSection = Readonly<v.InferOutput<typeof cloudeventsSection>>;

export const publishSection = v.pipe(
  v.strictObject({
    resources: v.optional(
      v.pipe(
        v.picklist(['all', 'own']),
        v.description('"own": only events that name this VM, or named it earlier in this occurrence. "all": those of its siblings too.'),
      ),
      'all',
    ),
  }),
  v.description('Which events are published.'),
);

export type PublishSection = Readonly<v.InferOutput<typeof publishSection>>;

const LEAST_STORE_BYTES = 16 * 1024 * 1024;

export const storeSection = v.pipe(
  v.strictObject({
    path: v.exactOptional(
      v.pipe(
        v.string(),
        v.minLength(1, 'must not be empty'),
        v.description(
          'The folder of the durable store. Default: ./scheduled-events-bridge-data; in a systemd service with StateDirectory=, that folder.',
        ),
      ),
    ),
    retain: v.optional(
      durationBetween(
        '1s',
        '3650d',
        'How long the journal and delivered rows are kept. What is undelivered or dead-lettered is never dropped for age.',
      ),
      '30d',
    ),
    maxSize: v.exactOptional(
      v.pipe(
        size(),
        v.check((bytes) => bytes >= LEAST_STORE_BYTES, 'must be at least 16MiB'),
        v.description(
          'How large the database may become, at least 16MiB; its log adds some MiB. From four fifths on what was delivered is dropped before store.retain says so, oldest first. Default: no bound.',
        ),
      ),
    ),
  }),
  v.transform(({ path, retain, maxSize }) => ({ path: path ?? null, retainMs: retain, maxBytes: maxSize ?? null })),
  v.description('Where the bridge keeps what it must not lose.'),
);

export type StoreSection = Readonly<v.InferOutput<typeof storeSection>>;
