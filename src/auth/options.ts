// Configuration of tokens, certificate names and JSON Web Tokens → schema and types.
import * as v from 'valibot';
import { isAddressRange } from '../net/private-addresses.ts';
import { tlsSection } from '../net/tls-options.ts';
import { durationBetween, type OptionsOf, secret, withoutFault } from '../schema/pieces.ts';
import { Secret } from '../secrets/secret.ts';

const text = (message = 'must not be empty') => v.pipe(v.string(), v.minLength(1, message));

const tokenEntries = {
  token: v.exactOptional(
    v.pipe(
      secret(),
      v.description(
        'The bearer token, { env: NAME } or { file: PATH }, at least 16 characters; no other caller may have the same.',
      ),
    ),
  ),
  tokens: v.exactOptional(
    v.pipe(
      v.array(secret()),
      v.minLength(1, 'must contain at least one token'),
      v.description('Several valid tokens, to replace one without a gap.'),
    ),
  ),
};

interface Tokens {
  readonly token?: Secret;
  readonly tokens?: readonly Secret[];
}

const isEither = ({ token, tokens }: Tokens) => (token === undefined) !== (tokens === undefined);
/** `listed`: the key is `tokens`. */
const tokensOf = ({ token, tokens }: Tokens) => ({
  tokens: tokens ?? (token ? [token] : []),
  listed: tokens !== undefined,
});

export const reader = v.pipe(
  v.strictObject(tokenEntries),
  v.check((given) => isEither(given), 'needs either token or tokens'),
  v.transform((given) => tokensOf(given)),
);

/**
 * The credentials of an approver, as keys of a strict object. An approver without any can only act through a source.
 */
export const credentialEntries = {
  ...tokenEntries,
  certificate: v.exactOptional(
    v.pipe(
      text(),
      v.description(
        'A name in a client certificate that http.tls.clientCa signed: its common name, or an alternative name of type DNS, URI or e-mail.',
      ),
    ),
  ),
  subject: v.exactOptional(
    v.pipe(text(), v.description('The value of the claim in a token of approvals.jwt, or a member of its list.')),
  ),
};

interface Credentials extends Tokens {
  readonly certificate?: string;
  readonly subject?: string;
}

export const ONE_KIND_OF_TOKENS = 'needs either token or tokens, not both';

export function hasOneKindOfTokens({ token, tokens }: Tokens): boolean {
  return token === undefined || tokens === undefined;
}

export function configuredCredentials({ certificate, subject, ...given }: Credentials) {
  return { ...tokensOf(given), certificate: certificate ?? null, subject: subject ?? null };
}

/** Only algorithms with a public key: a secret that both sides know does not identify the issuer. */
const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const INSECURE_FAULT =
  'must start with https:// (or with http:// and allowInsecure: true; anyone on the network path can then act as any approver)';

/** The path of the file is public; its content is handled as a secret. */
const file = v.pipe(
  v.strictObject({ file: text() }),
  v.transform(({ file: path }) => new Secret({ file: path })),
);

const keySet = v.pipe(
  v.union([v.pipe(v.string(), withoutFault(urlFault)), file], 'must be an https:// URL or { file: PATH }'),
  v.description(
    'The key set of the issuer (RFC 7517): an https:// URL, or { file: PATH }, which is read again when it changes.',
  ),
);

export const jwtSection = v.pipe(
  v.strictObject({
    issuer: v.pipe(text(), v.description('The issuer of the tokens: their iss, case-sensitive.')),
    audience: v.pipe(
      v.union(
        [text(), v.pipe(v.array(text()), v.minLength(1, 'must name at least one'))],
        'must be text or a list of texts',
      ),
      v.description('The audience of the tokens: one of these must be in their aud.'),
    ),
    jwks: keySet,
    claim: v.optional(
      v.pipe(text(), v.description('The claim that is compared with the subject of each approver.')),
      'sub',
    ),
    algorithms: v.exactOptional(
      v.pipe(
        v.array(v.picklist(ALGORITHMS)),
        v.minLength(1, 'must name at least one'),
        v.description('The accepted signature algorithms. Default: all of these.'),
      ),
    ),
    types: v.exactOptional(
      v.pipe(
        v.array(text()),
        v.minLength(1, 'must name at least one'),
        v.description('The accepted values of typ in the header, such as at+jwt. Default: any.'),
      ),
    ),
    maxLifetime: v.optional(
      durationBetween(
        '1m',
        '366d',
        'The maximum time until exp: a token that never expires is a password that cannot be revoked.',
      ),
      '30d',
    ),
    clockTolerance: v.optional(
      durationBetween('0s', '5m', 'The accepted difference between the clocks of issuer and bridge.'),
      '30s',
    ),
    allowPrivate: v.exactOptional(
      v.pipe(
        v.array(v.pipe(v.string(), v.check(isAddressRange, 'must be an address or a range such as 10.0.0.0/8'))),
        v.description(
          'Ranges of private, loopback or link-local addresses from which the key set may be fetched. Default none.',
        ),
      ),
    ),
    allowInsecure: v.optional(v.pipe(v.boolean(), v.description('true: jwks may be an http:// URL.')), false),
    tls: v.exactOptional(
      v.pipe(
        tlsSection({ shownTo: 'the server of the key set', host: 'the host of jwks' }),
        v.description('TLS for the URL of jwks. The files are read again when they change.'),
      ),
    ),
  }),
  v.forward(
    v.check(
      ({ jwks, allowInsecure }) => allowInsecure || typeof jwks !== 'string' || !/^http:/i.test(jwks),
      INSECURE_FAULT,
    ),
    ['jwks'],
  ),
  v.transform(
    ({ audience, algorithms, types, allowPrivate, clockTolerance, maxLifetime, tls, allowInsecure: _, ...rest }) => ({
      ...rest,
      algorithms: algorithms ?? ALGORITHMS,
      allowPrivate: allowPrivate ?? [],
      audiences: typeof audience === 'string' ? [audience] : audience,
      types: types ?? [],
      clockToleranceMs: clockTolerance,
      maxLifetimeMs: maxLifetime,
      tls: tls ?? null,
    }),
  ),
  v.description(
    'JSON Web Tokens of an identity provider, such as Microsoft Entra ID, as credentials of approvers. Default: JWTs are rejected.',
  ),
);

function urlFault(url: string): string | null {
  if (!/^https?:\/\//i.test(url)) return INSECURE_FAULT;
  const parsed = URL.parse(url);
  if (parsed === null) return 'must be a complete URL such as https://login.example.com/keys';
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain user:password@: a key set is public';
  return url.includes('#') ? 'must not contain a #fragment' : null;
}

export type ReaderOptions = OptionsOf<typeof reader>;
export type ApproverCredentials = Omit<ReturnType<typeof configuredCredentials>, 'listed'>;
export type JwtOptions = OptionsOf<typeof jwtSection>;
