// The common options of HTTP sinks → schema, faults, and the target once secrets are open.
import * as v from 'valibot';
import { BridgeError } from '../../src/errors.ts';
import { type AddressVerdict, addressJudge, isAddressRange, judgeLiteral } from '../../src/net/private-addresses.ts';
import type { OptionFault } from '../../src/schema/faults.ts';
import {
  choice,
  type EntriesOf,
  flag,
  type MappingFault,
  rules,
  secret,
  sizeBetween,
  timeLimit,
  wholeNumber,
} from '../../src/schema/pieces.ts';
import { reveal, type Secret } from '../../src/secrets/secret.ts';
import { HEADER_VALUE, HEADER_VALUE_FAULT, headerFault } from './authorization.ts';
import { type ConnectionOptions, connectionFaults } from './connections.ts';
import { holdsAuthorization, type OAuthOptions, oauthFaults } from './oauth/oauth-options.ts';

/** A field name (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that the bridge or the connection sets. */
const RESERVED_HEADERS =
  /^(host|content-.*|ce-.*|webhook-.*|connection|keep-alive|expect|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;
const MOST_MEMBERS = 1000;
const SCHEME = /^https?:\/\//i;
const INSECURE = /^http:/i;
const NO_URL = 'must be a complete URL such as https://example.com/hook';
const CREDENTIALS = 'must not contain user:password@: put credentials into headers, as secrets';
const SCHEME_FAULT =
  'must start with https:// (or with http:// and allowInsecure: true, which sends everything in the clear)';

const url = v.pipe(
  v.union(
    [
      v.pipe(
        v.string(),
        v.regex(SCHEME, SCHEME_FAULT),
        v.check((text) => !SCHEME.test(text) || URL.canParse(text), NO_URL),
        v.check((text) => !hasCredentials(text), CREDENTIALS),
      ),
      secret(),
    ],
    'must be a URL, { env: NAME } or { file: PATH }',
  ),
  v.description(
    'The URL to post to. Many such URLs are secrets: { env: NAME } or { file: PATH } hides all but scheme and host.',
  ),
);

const headers = v.pipe(
  v.optional(
    v.pipe(
      v.record(
        v.pipe(
          v.string(),
          v.regex(TOKEN, 'must be a header name'),
          v.check(
            (name) => !RESERVED_HEADERS.test(name),
            'is set by the bridge or belongs to the connection: remove it',
          ),
        ),
        v.union(
          [v.pipe(v.string(), v.regex(HEADER_VALUE, HEADER_VALUE_FAULT)), secret()],
          'must be text, { env: NAME } or { file: PATH }',
        ),
      ),
      v.check(
        (record) => new Set(Object.keys(record).map((name) => name.toLowerCase())).size === Object.keys(record).length,
        'names a header twice',
      ),
    ),
    {},
  ),
  v.description(
    'Headers of every request, such as authorization: { env: NAME }. Never host, content-*, ce-* or webhook-*.',
  ),
);

export function timeoutEntry(usual: string, description: string) {
  return v.pipe(v.optional(timeLimit(), usual), v.description(`${description} Default ${usual}.`));
}

/** All common keys except the URL, which some kinds call `endpoint`. */
const commonEntries = {
  headers,
  timeout: timeoutEntry('10s', 'How long one request may take, from the connection to the status of the answer.'),
  allowInsecure: flag(false, 'Allow http://. Default false.'),
  allowPrivate: v.pipe(
    v.optional(
      v.array(v.pipe(v.string(), v.check(isAddressRange, 'must be a range such as 10.0.0.0/8 or fd00::/8'))),
      [],
    ),
    v.description(
      'Private, loopback or link-local ranges that the sink may post to, such as [127.0.0.0/8]. Default none.',
    ),
  ),
};

export const httpEntries = { url, ...commonEntries };

/** The common keys with `endpoint` instead of `url`, for services that use that term. */
export const endpointEntries = (description: string) => ({
  endpoint: v.pipe(url, v.description(description)),
  ...commonEntries,
});

/** The key `compression`. */
export function compressionEntry(usual: 'gzip' | 'none') {
  return choice(
    ['gzip', 'none'],
    usual,
    `Compression of every body: gzip or none. Default ${usual}.`,
    'must be gzip or none',
  );
}

interface BatchDefaults {
  readonly members: number;
  readonly bytes: string;
  /** Whether a body may be compressed; the limit is before compression. */
  readonly isCompressible?: boolean;
  /** The maximum of `maxBatchBytes`. */
  readonly most?: string;
}

/**
 * The keys that limit a batch.
 * @param when limits the descriptions, such as ` in batch mode`; empty for none
 */
export function batchEntries(when: string, given: BatchDefaults = { members: 100, bytes: '64KiB' }) {
  const { members, bytes, isCompressible = false, most = '64MiB' } = given;
  const size = `Maximum size of a body${when}${isCompressible ? ', before compression' : ''}`;
  return {
    maxBatch: v.pipe(
      v.optional(wholeNumber(1, MOST_MEMBERS), members),
      v.description(`Maximum number of CloudEvents in one request${when}. Default ${members}.`),
    ),
    maxBatchBytes: v.pipe(
      v.optional(sizeBetween('4KiB', most), bytes),
      v.description(`${size}; a larger CloudEvent is sent alone. Default ${bytes}.`),
    ),
  };
}

/** The output of `httpEntries`, `connectionEntries` and `oauthEntries`. */
export interface HttpTargetOptions extends EntriesOf<typeof commonEntries>, ConnectionOptions, OAuthOptions {
  /** Either this or `endpoint`. */
  readonly url?: string | Secret;
  readonly endpoint?: string | Secret;
}

/** Returns the key that contains the URL, and its value. */
export function urlOf({ url, endpoint }: HttpTargetOptions): {
  readonly key: 'url' | 'endpoint';
  readonly value: string | Secret;
} {
  return endpoint === undefined ? { key: 'url', value: url ?? '' } : { key: 'endpoint', value: endpoint };
}

/** Checks combinations of keys, in the pipe of a sink's schema. @param own the kind's own faults */
export function httpChecks<Options extends HttpTargetOptions>(
  own: (options: Options) => readonly MappingFault[] = () => [],
) {
  return rules<Options>((options) => [...crossFaults(options), ...own(options)]);
}

function crossFaults(options: HttpTargetOptions): readonly MappingFault[] {
  const { key, value } = urlOf(options);
  const isExposed = !options.allowInsecure && typeof value === 'string' && INSECURE.test(value);
  return [...(isExposed ? [{ key, message: SCHEME_FAULT }] : []), ...oauthFaults(options)];
}

/** Rejects `authorization` in `headers` if another key sets it. @param keys the keys that set `authorization` */
export function ownAuthorization<Options extends HttpTargetOptions>(...keys: readonly (keyof Options & string)[]) {
  return rules<Options>((options) => {
    const key = keys.find((each) => options[each] !== undefined);
    if (key === undefined || !holdsAuthorization(options.headers)) return [];
    return [{ key: 'headers', message: `contains authorization, which ${key} sets: remove one of the two` }];
  });
}

export function httpSecretFaults(options: HttpTargetOptions): readonly OptionFault[] {
  const { allowInsecure, headers } = options;
  const { key, value } = urlOf(options);
  const text = reveal(value);
  const message = urlFault(text) ?? (allowInsecure || !INSECURE.test(text) ? null : SCHEME_FAULT);
  const invalid = Object.entries(headers).filter(([, header]) => headerFault(reveal(header)) !== null);
  return [
    ...(message === null ? [] : [{ key, message }]),
    ...invalid.map(([name]) => ({ key: `headers.${name}`, message: HEADER_VALUE_FAULT })),
    ...connectionFaults(options, message === null ? new URL(text) : null, key),
  ];
}

/** The URL and headers, with open secrets. */
export interface HttpTarget {
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Reveals the secrets. @throws BridgeError BRIDGE_CONFIG_INVALID for the first fault; it names the key and no value */
export function httpTarget(options: HttpTargetOptions, sink: string, faults = httpSecretFaults(options)): HttpTarget {
  const [fault] = faults;
  if (fault) throw new BridgeError('BRIDGE_CONFIG_INVALID', `sinks.${sink}.${fault.key} ${fault.message}`);
  const headers = Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), reveal(value)]);
  return { url: new URL(reveal(urlOf(options).value)), headers: Object.fromEntries(headers) };
}

/** Returns the fault, without any of the text, or null if the text is valid. */
function urlFault(text: string): string | null {
  if (!SCHEME.test(text)) return SCHEME_FAULT;
  if (!URL.canParse(text)) return NO_URL;
  return hasCredentials(text) ? CREDENTIALS : null;
}

function hasCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

const MESSAGES: Readonly<Record<Exclude<AddressVerdict, 'allowed'>, string>> = {
  metadata: 'is an address of the metadata service, which the bridge never sends events to: correct it',
  private: 'is not a public address: correct it, or list the range in allowPrivate if you trust it',
};

/** The faults of literal addresses. The secrets must be open. Names are checked when they are resolved; see network-fault.ts. */
export function addressFaults(options: HttpTargetOptions): readonly OptionFault[] {
  const { oauth2, allowPrivate } = options;
  const { key, value } = urlOf(options);
  const judge = addressJudge(allowPrivate);
  const targets = [
    { key, text: reveal(value) },
    ...(oauth2 ? [{ key: 'oauth2.tokenUrl', text: oauth2.tokenUrl }] : []),
  ];
  return targets.flatMap(({ key: named, text }) => {
    const target = URL.parse(text);
    const verdict = target === null ? 'allowed' : judgeLiteral(target, judge);
    return verdict === 'allowed' ? [] : [{ key: named, message: MESSAGES[verdict] }];
  });
}
