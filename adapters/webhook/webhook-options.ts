// What the configuration says of a webhook → checked options, and, once its secrets are open, where and with which headers to post.
import * as v from 'valibot';
import { BridgeError } from '../../src/errors.ts';
import { isAddressRange } from '../../src/net/private-addresses.ts';
import { duration, secret } from '../../src/schema/pieces.ts';
import { reveal } from '../../src/secrets/secret.ts';
import type { OptionFault } from '../adapter.ts';
import { bodyEntries } from './body-options.ts';
import { connectionEntries, connectionFaults } from './connection-options.ts';
import { consentEntries, namesOrigin, ORIGIN_FAULT } from './consent-options.ts';
import {
  AUTHORIZATION_FAULT,
  authorizationEntries,
  headersLeaveAuthorization,
  TOKEN_URL_FAULT,
  tokenUrlFits,
} from './oauth/authorization-options.ts';
import { signingEntries, signingSecretFaults } from './signing-options.ts';
import { MODE_FAULT, modeFits, templateEntries } from './template/template-options.ts';

/** A field name (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that are the bridge's or the connection's. */
const OURS = /^(host|content-.*|ce-.*|webhook-.*|connection|keep-alive|expect|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;
/** Below the five minutes after which a lane gives any adapter up. */
const LONGEST_MS = 240_000;
const VALUE = /^[\t\x20-\x7e]*$/;
const VALUE_FAULT = 'must hold printable ASCII alone, without line ends or other control characters';
const SCHEME = /^https?:\/\//i;
const NO_URL = 'must be a whole URL such as https://example.com/hook';
const CREDENTIALS = 'must hold no user:password@: credentials go into headers, as secrets';
const SCHEME_FAULT = 'must start with https:// (or with http:// and allowInsecure: true, which sends everything in the clear)';

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
  v.description('Where to post. Many such URLs are secrets: { env: NAME } or { file: PATH } hides all but scheme and host.'),
);

const headers = v.pipe(
  v.optional(
    v.pipe(
      v.record(
        v.pipe(
          v.string(),
          v.regex(TOKEN, 'must be a header name'),
          v.check((name) => !OURS.test(name), 'is set by the bridge or belongs to the connection: leave it out'),
        ),
        v.union([v.pipe(v.string(), v.regex(VALUE, VALUE_FAULT)), secret()], 'must be text, { env: NAME } or { file: PATH }'),
      ),
      v.check(
        (record) => new Set(Object.keys(record).map((name) => name.toLowerCase())).size === Object.keys(record).length,
        'names a header twice',
      ),
    ),
    {},
  ),
  v.description('Headers of every request, such as authorization: { env: NAME }. Never host, content-*, ce-* or webhook-*.'),
);

/** The webhook sink's options (contract, section 2). */
export const webhookOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('webhook')), v.description('The kind of sink.')),
    url,
    headers,
    timeout: v.pipe(
      v.optional(v.pipe(duration(), v.minValue(1, 'must be at least 1ms'), v.maxValue(LONGEST_MS, 'must be at most 4m')), '10s'),
      v.description('How long one request may take, from the connection to the status of the answer. Default 10s.'),
    ),
    allowInsecure: v.pipe(v.optional(v.boolean(), false), v.description('Allow http://. Default false.')),
    allowPrivate: v.pipe(
      v.optional(v.array(v.pipe(v.string(), v.check(isAddressRange, 'must be a range such as 10.0.0.0/8 or fd00::/8'))), []),
      v.description('Ranges of private, loopback or link-local addresses that may be posted to, such as [127.0.0.0/8]. Default none.'),
    ),
    ...bodyEntries,
    ...templateEntries,
    ...signingEntries,
    ...consentEntries,
    ...connectionEntries,
    ...authorizationEntries,
  }),
  v.forward(
    v.check((options) => options.allowInsecure || typeof options.url !== 'string' || !/^http:/i.test(options.url), SCHEME_FAULT),
    ['url'],
  ),
  v.forward(
    v.check((options) => namesOrigin(options), ORIGIN_FAULT),
    ['origin'],
  ),
  v.forward(
    v.check((options) => modeFits(options), MODE_FAULT),
    ['mode'],
  ),
  v.forward(
    v.check((options) => tokenUrlFits(options), TOKEN_URL_FAULT),
    ['oauth2', 'tokenUrl'],
  ),
  v.forward(
    v.check((options) => headersLeaveAuthorization(options), AUTHORIZATION_FAULT),
    ['headers'],
  ),
);

export type WebhookOptions = v.InferOutput<typeof webhookOptions>;

/** Where to post, once every secret is known. */
export interface Target {
  readonly url: URL;
  /** Scheme, host and port: all of the URL that may be shown. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is wrong with the values of a webhook's secrets. */
export function secretFaults(options: WebhookOptions): readonly OptionFault[] {
  const { url, allowInsecure, headers } = options;
  const text = reveal(url);
  const message = urlFault(text) ?? (allowInsecure || !/^http:/i.test(text) ? null : SCHEME_FAULT);
  const spoilt = Object.entries(headers).filter(([, value]) => !VALUE.test(reveal(value)));
  return [
    ...(message === null ? [] : [{ key: 'url', message }]),
    ...spoilt.map(([name]) => ({ key: `headers.${name}`, message: VALUE_FAULT })),
    ...signingSecretFaults(options),
    ...connectionFaults(options, message === null ? new URL(text) : null),
  ];
}

/** Reveals the secrets of a webhook's options. @throws BridgeError BRIDGE_CONFIG_INVALID that names the key and no value */
export function targetOf(options: WebhookOptions, sink: string): Target {
  const [fault] = secretFaults(options);
  if (fault) throw new BridgeError('BRIDGE_CONFIG_INVALID', `sinks.${sink}.${fault.key} ${fault.message}`);
  const url = new URL(reveal(options.url));
  const headers = Object.fromEntries(Object.entries(options.headers).map(([name, value]) => [name, reveal(value)]));
  return { url, origin: url.origin, headers };
}

/** Says what is wrong without repeating any of it; null where nothing is. */
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
