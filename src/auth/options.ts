// What proves who calls: tokens, certificate names, JSON Web Tokens → schema and types.
import * as v from 'valibot';
import { isAddressRange } from '../net/private-addresses.ts';
import { tlsSection } from '../net/tls-options.ts';
import { durationBetween, type OptionsOf, secret, withoutFault } from '../schema/pieces.ts';
import { Secret } from '../secrets/secret.ts';

const tokenEntries = {
  token: v.exactOptional(
    v.pipe(
      secret(),
      v.description('The bearer token, { env: NAME } or { file: PATH }, at least 16 characters; nobody else may have the same.'),
    ),
  ),
  tokens: v.exactOptional(
    v.pipe(
      v.array(secret()),
      v.minLength(1, 'must hold at least one token'),
      v.description('Several tokens, each valid, while one is being replaced.'),
    ),
  ),
};

interface Tokens {
  readonly token?: Secret;
  readonly tokens?: readonly Secret[];
}

const isEither = ({ token, tokens }: Tokens) => (token === undefined) !== (tokens === undefined);
/** `listed`: they stand under `tokens`. */
const tokensOf = ({ token, tokens }: Tokens) => ({ tokens: tokens ?? (token ? [token] : []), listed: tokens !== undefined });

export const reader = v.pipe(
  v.strictObject(tokenEntries),
  v.check((given) => isEither(given), 'needs either token or tokens'),
  v.transform((given) => tokensOf(given)),
);

/** Of an approver, as keys of a strict object; without any, one that a source names. */
export const proofEntries = {
  ...tokenEntries,
  certificate: v.exactOptional(
    v.pipe(
      v.string(),
      v.minLength(1, 'must not be empty'),
      v.description(
        'A name in a client certificate that http.tls.clientCa signed: its common name, or an alternative name of type DNS, URI or e-mail.',
      ),
    ),
  ),
  subject: v.exactOptional(
    v.pipe(
      v.string(),
      v.minLength(1, 'must not be empty'),
      v.description('What stands in the claim of a token of approvals.jwt, or in its list.'),
    ),
  ),
};

interface Proofs extends Tokens {
  readonly certificate?: string;
  readonly subject?: string;
}

export const ONE_KIND_OF_TOKENS = 'needs either token or tokens, not both';

export function hasOneKindOfTokens({ token, tokens }: Tokens): boolean {
  return token === undefined || tokens === undefined;
}

/** What an approver can prove itself by. */
export function proofsOf({ certificate, subject, ...given }: Proofs) {
  return { ...tokensOf(given), certificate: certificate ?? null, subject: subject ?? null };
}

/** Those whose key proves and cannot make: a secret that both sides know is no identity. */
const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const INSECURE_FAULT =
  'must start with https:// (or with http:// and allowInsecure: true, where whoever is on the way can be any approver)';

const text = (message = 'must not be empty') => v.pipe(v.string(), v.minLength(1, message));

/** The path of a file is no secret; its text is handled as one. */
const file = v.pipe(
  v.strictObject({ file: text() }),
  v.transform(({ file: path }) => new Secret({ file: path })),
);

const keySet = v.pipe(
  v.union([v.pipe(v.string(), withoutFault(urlFault)), file], 'must be an https:// URL or { file: PATH }'),
  v.description('The key set of the issuer (RFC 7517): an https:// URL, or { file: PATH }, which is read again when it changes.'),
);

export const jwtSection = v.pipe(
  v.strictObject({
    issuer: v.pipe(text(), v.description('Who makes the tokens: their iss, letter by letter.')),
    audience: v.pipe(
      v.union([text(), v.pipe(v.array(text()), v.minLength(1, 'must name at least one'))], 'must be text or a list of texts'),
      v.description('For whom they are made: one of these must be in their aud.'),
    ),
    jwks: keySet,
    claim: v.optional(v.pipe(text(), v.description('The claim that is compared with the subject of each approver.')), 'sub'),
    algorithms: v.exactOptional(
      v.pipe(
        v.array(v.picklist(ALGORITHMS)),
        v.minLength(1, 'must name at least one'),
        v.description('The signatures that are taken. Default: all of these.'),
      ),
    ),
    types: v.exactOptional(
      v.pipe(
        v.array(text()),
        v.minLength(1, 'must name at least one'),
        v.description('What typ of the header must be, such as at+jwt: one of these. Default: whatever it is.'),
      ),
    ),
    maxLifetime: v.optional(
      durationBetween('1m', '366d', 'How far exp may lie ahead: a token that is good for ever is a password that nobody can take back.'),
      '30d',
    ),
    clockTolerance: v.optional(durationBetween('0s', '5m', 'How far the clocks of issuer and bridge may be apart.'), '30s'),
    allowPrivate: v.exactOptional(
      v.pipe(
        v.array(v.pipe(v.string(), v.check(isAddressRange, 'must be an address or a range such as 10.0.0.0/8'))),
        v.description('Ranges of private, loopback or link-local addresses that the key set may be fetched from. Default none.'),
      ),
    ),
    allowInsecure: v.optional(v.pipe(v.boolean(), v.description('true: jwks may be an http:// URL.')), false),
    tls: v.exactOptional(
      v.pipe(
        tlsSection({ shownTo: 'the server of the key set', host: 'the host of jwks' }),
        v.description('TLS towards the URL of jwks. The files are read again when they change.'),
      ),
    ),
  }),
  v.forward(
    v.check(({ jwks, allowInsecure }) => allowInsecure || typeof jwks !== 'string' || !/^http:/i.test(jwks), INSECURE_FAULT),
    ['jwks'],
  ),
  v.transform(({ audience, algorithms, types, allowPrivate, clockTolerance, maxLifetime, tls, allowInsecure: _, ...rest }) => ({
    ...rest,
    algorithms: algorithms ?? ALGORITHMS,
    allowPrivate: allowPrivate ?? [],
    audiences: typeof audience === 'string' ? [audience] : audience,
    types: types ?? [],
    clockToleranceMs: clockTolerance,
    maxLifetimeMs: maxLifetime,
    tls: tls ?? null,
  })),
  v.description(
    'JSON Web Tokens of an identity provider, such as Microsoft Entra ID, as a proof of who approves. Default: none are taken.',
  ),
);

function urlFault(url: string): string | null {
  if (!/^https?:\/\//i.test(url)) return INSECURE_FAULT;
  const parsed = URL.parse(url);
  if (parsed === null) return 'must be a whole URL such as https://login.example.com/keys';
  if (parsed.username !== '' || parsed.password !== '') return 'must hold no user:password@: a key set is public';
  return url.includes('#') ? 'must hold no #fragment' : null;
}

export type ReaderOptions = OptionsOf<typeof reader>;
export type ApproverProofs = Omit<ReturnType<typeof proofsOf>, 'listed'>;
export type JwtOptions = OptionsOf<typeof jwtSection>;
