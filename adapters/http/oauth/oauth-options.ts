// The key `oauth2`, tokens by client credentials (RFC 6749) → its schema and its faults.
import * as v from 'valibot';
import { choice, type EntriesOf, type MappingFault, secret, withoutFault } from '../../../src/schema/pieces.ts';

/** Scope tokens with one space between them (RFC 6749, section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const INSECURE = /^http:/i;

const TOKEN_URL_FAULT =
  'must start with https:// (or with http:// and allowInsecure: true, which sends the client secret in the clear)';
const AUTHORIZATION_FAULT = 'contains authorization, which oauth2 sets: remove one of the two';

const tokenUrl = v.pipe(
  v.string(),
  withoutFault(tokenUrlFault),
  v.description(
    'The token endpoint of the authorization server. It uses the same proxy and the same address rules as the url.',
  ),
);

export const oauthEntries = {
  oauth2: v.exactOptional(
    v.pipe(
      v.strictObject({
        tokenUrl,
        clientId: v.pipe(
          v.union([v.pipe(v.string(), v.minLength(1)), secret()], 'must be text, { env: NAME } or { file: PATH }'),
          v.description('The client id of the bridge at the authorization server.'),
        ),
        clientSecret: v.pipe(secret(), v.description('The client secret: { env: NAME } or { file: PATH }.')),
        scope: v.exactOptional(
          v.pipe(
            v.string(),
            v.regex(SCOPE, 'must be scopes separated by single spaces, such as https://api.example.com/.default'),
            v.description('The scopes of the token. Default: chosen by the authorization server.'),
          ),
        ),
        audience: v.exactOptional(
          v.pipe(
            v.string(),
            v.minLength(1),
            v.description('The audience of the token, if the authorization server requires it (Auth0, Okta).'),
          ),
        ),
        clientAuth: choice(
          ['basic', 'post'],
          'basic',
          'How the client authenticates: basic, in the Authorization header, or post, in the body. Default basic.',
        ),
      }),
      v.description('A bearer token for every request, by OAuth 2.0 client credentials; renewed before it ends.'),
    ),
  ),
};

export type OAuthOptions = EntriesOf<typeof oauthEntries>;

/** Returns the faults of `oauth2` in combination with `headers` and `allowInsecure`. */
export function oauthFaults(
  options: OAuthOptions & { readonly allowInsecure: boolean; readonly headers: object },
): readonly MappingFault[] {
  const { oauth2, allowInsecure, headers } = options;
  if (oauth2 === undefined) return [];
  const isExposed = !allowInsecure && INSECURE.test(oauth2.tokenUrl);
  return [
    ...(isExposed ? [{ path: ['oauth2', 'tokenUrl'], message: TOKEN_URL_FAULT }] : []),
    ...(holdsAuthorization(headers) ? [{ key: 'headers', message: AUTHORIZATION_FAULT }] : []),
  ];
}

/** Returns whether the configured headers contain `authorization`. */
export function holdsAuthorization(headers: object): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** Returns the fault, without any of the text, or null if the text is valid. */
function tokenUrlFault(text: string): string | null {
  if (!/^https?:\/\//i.test(text)) return TOKEN_URL_FAULT;
  const url = URL.parse(text);
  if (url === null) return 'must be a complete URL such as https://login.example.com/oauth2/token';
  if (url.username !== '' || url.password !== '')
    return 'must not contain user:password@: use clientId and clientSecret';
  // RFC 6749, section 3.2
  return text.includes('#') ? 'must not contain a #fragment' : null;
}
