// Configuration of `sasl` → checked keys for each mechanism.
import * as v from 'valibot';
import { azureCredentialEntries, azureCredentialFaults } from '../../../src/azure/options.ts';
import { tlsFaults } from '../../../src/net/tls-options.ts';
import type { OptionFault } from '../../../src/schema/faults.ts';
import { type OptionsOf, rules, secret } from '../../../src/schema/pieces.ts';
import { reveal } from '../../../src/secrets/secret.ts';

const CONTROL = /\p{Cc}/u;
const CONTROL_FAULT = 'must not contain line breaks or other control characters';
/** RFC 6750, section 2.1. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const AZURE_KEYS = Object.keys(azureCredentialEntries);

const password = v.strictObject({
  mechanism: v.pipe(
    v.picklist(['plain', 'scram-sha-256', 'scram-sha-512']),
    v.description('plain, scram-sha-256, scram-sha-512 or oauthbearer, as configured at the brokers.'),
  ),
  username: v.pipe(
    v.union([v.pipe(v.string(), v.minLength(1)), secret()], 'must be text, { env: NAME } or { file: PATH }'),
    v.description('The user name at the brokers; text or a secret.'),
  ),
  password: v.pipe(secret(), v.description('The password: { env: NAME } or { file: PATH }.')),
});

const oauthbearer = v.pipe(
  v.strictObject({
    mechanism: v.pipe(v.literal('oauthbearer'), v.description('A token instead of user and password (RFC 7628).')),
    azure: v.exactOptional(
      v.pipe(
        v.literal(true),
        v.description('A token of Microsoft Entra ID for Azure Event Hubs, from the configured credential.'),
      ),
    ),
    token: v.exactOptional(
      v.pipe(
        secret(),
        v.description(
          'A token that another program keeps fresh: { file: PATH }, read for each connection, or { env: NAME }.',
        ),
      ),
    ),
    extensions: v.exactOptional(
      v.pipe(
        v.record(
          v.pipe(
            v.string(),
            v.regex(/^[A-Za-z]+$/, 'must contain only letters'),
            v.check((key) => key.toLowerCase() !== 'auth', 'is reserved for the token itself'),
          ),
          v.pipe(v.string(), v.regex(/^[\x20-\x7e\t\r\n]*$/, 'must contain only printable ASCII')),
        ),
        v.description('SASL extensions sent with the token, such as logicalCluster. Default none.'),
      ),
    ),
    ...azureCredentialEntries,
  }),
  v.check((sasl) => (sasl.azure === undefined) !== (sasl.token === undefined), 'needs either azure: true or token'),
  rules((sasl) => (sasl.azure ? azureCredentialFaults(sasl) : strayKeys(sasl))),
);

export const saslSection = v.pipe(
  v.variant('mechanism', [password, oauthbearer]),
  v.description('Login at the brokers: { mechanism, username, password }, or oauthbearer with azure: true or a token.'),
);

export type SaslOptions = OptionsOf<typeof saslSection>;

/** Returns whether the mechanism sends a reusable secret. SCRAM proves the password without sending it. */
export function sendsSecret({ mechanism }: SaslOptions): boolean {
  return mechanism === 'plain' || mechanism === 'oauthbearer';
}

/** Returns the faults of open secrets, with keys such as `sasl.username`. */
export function saslFaults(sasl: SaslOptions): readonly OptionFault[] {
  if (sasl.mechanism !== 'oauthbearer') {
    const texts = { username: reveal(sasl.username), password: sasl.password.reveal() };
    return Object.entries(texts).flatMap(([key, text]) =>
      CONTROL.test(text) ? [{ key: `sasl.${key}`, message: CONTROL_FAULT }] : [],
    );
  }
  if (sasl.token !== undefined && !isToken(sasl.token.reveal()))
    return [
      {
        key: 'sasl.token',
        message: 'is not a valid bearer token: only letters, digits and -._~+/, with equals signs at the end',
      },
    ];
  const { certificate } = sasl;
  if (certificate === undefined) return [];
  const [fault] = tlsFaults({ cert: certificate, key: certificate }, 'sasl');
  if (fault !== undefined)
    return [
      {
        key: 'sasl.certificate',
        message: 'is not a PEM file with a certificate and its private key, without a passphrase',
      },
    ];
  const isRsa =
    process.getBuiltinModule('node:crypto').createPrivateKey(certificate.reveal()).asymmetricKeyType === 'rsa';
  return isRsa
    ? []
    : [{ key: 'sasl.certificate', message: 'must contain an RSA key: Microsoft Entra ID accepts no other type' }];
}

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns a fault for each key of an Entra identity without `azure: true`. */
function strayKeys(sasl: object): readonly OptionFault[] {
  return AZURE_KEYS.filter((key) => Reflect.get(sasl, key) !== undefined).map((key) => ({
    key,
    message: 'has no effect without azure: true',
  }));
}
