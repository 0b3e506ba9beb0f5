// Approvers' proofs, http.tls.clientCa, approvals.jwt → options, and every fault with its path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { configOf, faultsOf, surroundings, TOKEN } from '../../support/config.ts';

const AROUND = surroundings(
  { T: TOKEN },
  {
    '/etc/bridge/cert.pem': CERTIFICATE,
    '/etc/bridge/key.pem': PRIVATE_KEY,
    '/etc/bridge/ca.pem': CERTIFICATE,
    '/etc/bridge/words.pem': 'words',
    '/etc/bridge/keys.json': '{ "keys": [ {} ] }',
    '/etc/bridge/nokeys.json': '{ "keys": [] }',
  },
);

const TLS = 'tls: { cert: cert.pem, key: key.pem, clientCa: ca.pem }';
const JWT = 'issuer: https://login.test/, audience: api://bridge, jwks: "https://login.test/keys"';

function faults(text: string): string[] {
  return faultsOf(`version: 1\n${text}`, AROUND);
}

const approvals = (jwt: string, approvers = 'a: { subject: x }') =>
  `approvals: { jwt: { ${jwt} }, approvers: { ${approvers} } }`;

test('credentials and the settings that verify them are read, with their defaults', () => {
  const text = `version: 1\nhttp: { ${TLS} }\n${approvals(JWT, 'a: { subject: x, certificate: a.test, token: { env: T } }')}`;
  const { http, approvals: section } = configOf(text, AROUND);
  const { tokens: [token] = [], ...orders } = section.approvers['a'] ?? assert.fail();
  assert.equal(token?.reveal(), TOKEN);
  assert.deepEqual(orders, { listed: false, certificate: 'a.test', subject: 'x', scope: {}, admin: false });
  assert.equal(http.tls?.clientCa?.reveal(), CERTIFICATE.trimEnd());
  assert.equal(http.tls?.clientCa?.file, '/etc/bridge/ca.pem');
  assert.deepEqual(section.jwt, {
    issuer: 'https://login.test/',
    audiences: ['api://bridge'],
    jwks: 'https://login.test/keys',
    claim: 'sub',
    algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
    types: [],
    clockToleranceMs: 30_000,
    maxLifetimeMs: 2_592_000_000,
    allowPrivate: [],
    tls: null,
  });
});

test('without them nothing is verified', () => {
  const { http, approvals: section } = configOf('version: 1\nhttp: { tls: { cert: cert.pem, key: key.pem } }', AROUND);
  assert.equal(http.tls?.clientCa, null);
  assert.equal(section.jwt, null);
});

test('a key set may be in a file, or at an allowed private address', () => {
  const { jwks } =
    configOf(`version: 1\n${approvals('issuer: i, audience: [b, c], jwks: { file: keys.json }')}`, AROUND).approvals
      .jwt ?? assert.fail();
  assert.ok(typeof jwks !== 'string');
  assert.equal(jwks.file, '/etc/bridge/keys.json');
  assert.deepEqual(
    faults(
      approvals('issuer: i, audience: b, jwks: "http://127.0.0.1:1/k", allowInsecure: true, allowPrivate: [127.0.0.1]'),
    ),
    [],
  );
});

test('each of its settings can be changed, up to the limits', () => {
  const url = 'HTTPS://login.test/http:/keys';
  const settings = 'claim: roles, algorithms: [ES256], types: [at+jwt], maxLifetime: 1m, clockTolerance: 0s';
  const text = approvals(`issuer: i, audience: b, jwks: "${url}", ${settings}, tls: { ca: ca.pem }`);
  const { tls, ...jwt } = configOf(`version: 1\n${text}`, AROUND).approvals.jwt ?? assert.fail();
  assert.equal(tls?.ca?.reveal(), CERTIFICATE.trimEnd());
  assert.deepEqual(jwt, {
    ...{ issuer: 'i', audiences: ['b'], jwks: url, claim: 'roles', algorithms: ['ES256'], types: ['at+jwt'] },
    ...{ maxLifetimeMs: 60_000, clockToleranceMs: 0, allowPrivate: [] },
  });
});

const CASES: readonly (readonly [title: string, text: string, faults: readonly string[]])[] = [
  [
    'a certificate that nobody judges',
    'approvals: { approvers: { a: { certificate: x } } }',
    ['approvals.approvers.a.certificate: needs http.tls.clientCa: the authorities that sign client certificates'],
  ],
  [
    'a certificate where TLS asks for none',
    'http: { tls: { cert: cert.pem, key: key.pem } }\napprovals: { approvers: { a: { certificate: x } } }',
    ['approvals.approvers.a.certificate: needs http.tls.clientCa: the authorities that sign client certificates'],
  ],
  [
    'a certificate of two approvers',
    `http: { ${TLS} }\napprovals: { approvers: { a: { certificate: a.test }, b: { certificate: A.test } } }`,
    [
      'approvals.approvers.b.certificate: is the same as approvals.approvers.a.certificate: each approver needs its own',
    ],
  ],
  [
    'an empty certificate',
    `http: { ${TLS} }\napprovals: { approvers: { a: { certificate: "" } } }`,
    ['approvals.approvers.a.certificate: must not be empty'],
  ],
  [
    'authorities that are none',
    'http: { tls: { cert: cert.pem, key: key.pem, clientCa: words.pem } }',
    ['http.tls.clientCa: is not a file with certificates in PEM format'],
  ],
  [
    'authorities that are not there',
    'http: { tls: { cert: cert.pem, key: key.pem, clientCa: nowhere.pem } }',
    ['http.tls.clientCa: the file /etc/bridge/nowhere.pem cannot be read (ENOENT)'],
  ],
  [
    'a subject that nobody judges',
    'approvals: { approvers: { a: { subject: x } } }',
    ['approvals.approvers.a.subject: needs approvals.jwt: the issuer of accepted tokens'],
  ],
  [
    'a subject of two approvers',
    approvals(JWT, 'a: { subject: x }, b: { subject: X }, c: { subject: x }'),
    ['approvals.approvers.c.subject: is the same as approvals.approvers.a.subject: each approver needs its own'],
  ],
  [
    'tokens that let nobody approve',
    approvals(JWT, 'a: { token: { env: T } }'),
    [
      'approvals.jwt: has no effect without approvers that use it: give each of them a subject, the value of the claim in their tokens',
    ],
  ],
  [
    'tokens of anybody',
    approvals(''),
    ['approvals.jwt.issuer: is missing', 'approvals.jwt.audience: is missing', 'approvals.jwt.jwks: is missing'],
  ],
  [
    'no audience',
    approvals('issuer: i, audience: [], jwks: "https://login.test/k"'),
    ['approvals.jwt.audience: must name at least one'],
  ],
  [
    'an audience that is not text',
    approvals('issuer: i, audience: { api: bridge }, jwks: "https://login.test/k"'),
    ['approvals.jwt.audience: must be text or a list of texts'],
  ],
  [
    'an empty audience in a list',
    approvals('issuer: i, audience: [b, ""], jwks: "https://login.test/k"'),
    ['approvals.jwt.audience[1]: must not be empty'],
  ],
  [
    'an empty subject',
    approvals(JWT, 'a: { subject: "" }, b: { subject: x }'),
    ['approvals.approvers.a.subject: must not be empty'],
  ],
  ['no algorithms', approvals(`${JWT}, algorithms: []`), ['approvals.jwt.algorithms: must name at least one']],
  [
    'an algorithm by a shared secret',
    approvals(`${JWT}, algorithms: [HS256]`),
    [
      'approvals.jwt.algorithms[0]: is not an allowed value (allowed: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519); did you mean RS256?',
    ],
  ],
  [
    'keys in the clear',
    approvals('issuer: i, audience: b, jwks: "http://login.test/k"'),
    [
      'approvals.jwt.jwks: must start with https:// (or with http:// and allowInsecure: true; anyone on the network path can then act as any approver)',
    ],
  ],
  [
    'keys at a private address',
    approvals('issuer: i, audience: b, jwks: "https://10.0.0.1/k"'),
    [
      'approvals.jwt.jwks: is not a public address: correct it, or list the range in approvals.jwt.allowPrivate if you trust it',
    ],
  ],
  [
    'keys at the metadata service',
    approvals('issuer: i, audience: b, jwks: "https://169.254.169.254/k", allowPrivate: [0.0.0.0/0]'),
    ['approvals.jwt.jwks: is an address of the metadata service, which has no key set: correct it'],
  ],
  [
    'a password in the URL of the keys',
    approvals('issuer: i, audience: b, jwks: "https://u:p@login.test/k"'),
    ['approvals.jwt.jwks: must not contain user:password@: a key set is public'],
  ],
  [
    'a user without a password in the URL of the keys',
    approvals('issuer: i, audience: b, jwks: "https://u@login.test/k"'),
    ['approvals.jwt.jwks: must not contain user:password@: a key set is public'],
  ],
  [
    'a password without a user in the URL of the keys',
    approvals('issuer: i, audience: b, jwks: "https://:p@login.test/k"'),
    ['approvals.jwt.jwks: must not contain user:password@: a key set is public'],
  ],
  [
    'a fragment in the URL of the keys',
    approvals('issuer: i, audience: b, jwks: "https://login.test/k#one"'),
    ['approvals.jwt.jwks: must not contain a #fragment'],
  ],
  [
    'an incomplete URL of the keys',
    approvals('issuer: i, audience: b, jwks: "https://"'),
    ['approvals.jwt.jwks: must be a complete URL such as https://login.example.com/keys'],
  ],
  [
    'keys by another protocol, whatever its path contains',
    approvals('issuer: i, audience: b, jwks: "ftp://login.test/https://k", allowInsecure: true'),
    [
      'approvals.jwt.jwks: must start with https:// (or with http:// and allowInsecure: true; anyone on the network path can then act as any approver)',
    ],
  ],
  [
    'a range that is not one',
    approvals(`${JWT}, allowPrivate: [10.0.0.0/33]`),
    ['approvals.jwt.allowPrivate[0]: must be an address or a range such as 10.0.0.0/8'],
  ],
  [
    'a file without keys',
    approvals('issuer: i, audience: b, jwks: { file: nokeys.json }'),
    ['approvals.jwt.jwks: is not a file with a key set in JSON: { "keys": [ … ] }'],
  ],
  [
    'keys from the environment',
    approvals('issuer: i, audience: b, jwks: { env: T }'),
    [
      'approvals.jwt.jwks.env: is not a key of the configuration (allowed: file)',
      'approvals.jwt.jwks: must be an https:// URL or { file: PATH }',
    ],
  ],
  [
    'a lifetime without end',
    approvals(`${JWT}, maxLifetime: 9999d`),
    ['approvals.jwt.maxLifetime: must be between 1m and 366d'],
  ],
  [
    'a lifetime too short to be used',
    approvals(`${JWT}, maxLifetime: 59s`),
    ['approvals.jwt.maxLifetime: must be between 1m and 366d'],
  ],
  ['no types', approvals(`${JWT}, types: []`), ['approvals.jwt.types: must name at least one']],
  [
    'too much tolerance',
    approvals(`${JWT}, clockTolerance: 6m`),
    ['approvals.jwt.clockTolerance: must be between 0s and 5m'],
  ],
  [
    'authorities of the key set that are none',
    approvals(`${JWT}, tls: { ca: words.pem }`),
    ['approvals.jwt.tls.ca: is not a file with certificates in PEM format'],
  ],
];

for (const [title, text, expected] of CASES)
  test(`${title} is a fault`, () => assert.deepEqual(faults(text), expected));
