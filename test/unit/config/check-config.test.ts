// readConfig: every fault of a file in one run, with path, message and hint, and no value in it.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import type { AdapterDefinition } from '../../../adapters/adapter.ts';
import { configError } from '../../../src/config/check-config.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { formatFault } from '../../../src/schema/faults.ts';
import { secret } from '../../../src/schema/pieces.ts';
import type { Secret } from '../../../src/secrets/secret.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { faultsOf, OTHER_TOKEN, surroundings, TOKEN } from '../../support/config.ts';

const SECTION_KEYS = 'version, metadata, cloudevents, publish, store, http, approvals, log, sinks';

/** What each line of configuration (beside `version: 1`) brings about. */
const CASES: readonly (readonly [title: string, text: string, faults: readonly string[]])[] = [
  [
    'a misspelt section',
    'metadat: {}',
    [`metadat: is not a key of the configuration (allowed: ${SECTION_KEYS}); did you mean metadata?`],
  ],
  [
    'a misspelt key',
    'store: { retian: 1d }',
    ['store.retian: is not a key of the configuration (allowed: path, retain, maxSize); did you mean retain?'],
  ],
  [
    'a key in another letter case',
    'http: { Listen: "127.0.0.1:1" }',
    [
      'http.Listen: is not a key of the configuration (allowed: listen, tls, readers, health, drain, console, allowInsecure); did you mean listen?',
    ],
  ],
  [
    'a key of a later version',
    'publish: { from: own }',
    ['publish.from: is not a key of the configuration (allowed: resources)'],
  ],
  ['a section without content', 'store: ~', ['store: is empty: set a value or remove the key']],
  ['a section that is a list', 'store: []', ['store: must be a mapping, not a list']],
  [
    'a number for a duration',
    'metadata: { timeout: 10 }',
    ['metadata.timeout: must be a duration such as 500ms, 10s, 15m or 30d'],
  ],
  [
    'a duration out of range',
    'metadata: { pollInterval: 49ms }',
    ['metadata.pollInterval: must be between 50ms and 30s'],
  ],
  [
    'a duration without unit',
    'metadata: { settle: "5" }',
    ['metadata.settle: must be a duration such as 500ms, 10s, 15m or 30d'],
  ],
  [
    'an unknown choice',
    'publish: { resources: ownn }',
    ['publish.resources: is not an allowed value (allowed: all, own); did you mean own?'],
  ],
  ['a text for a yes or no', 'approvals: { dryRun: "no" }', ['approvals.dryRun: must be true or false, not a text']],
  [
    'a source with a space',
    'cloudevents: { source: "a b" }',
    [
      'cloudevents.source: has a character that is not allowed in a URI, such as a space or é: percent-encode it (%20, %C3%A9)',
    ],
  ],
  [
    'an empty source',
    'cloudevents: { source: "" }',
    [
      'cloudevents.source: must be empty (~), "vm" or a URI reference (RFC 3986), such as /subscriptions/S/resourcegroups/G',
    ],
  ],
  [
    'a prefix with a dot at its end',
    'cloudevents: { typePrefix: "com.example." }',
    [
      'cloudevents.typePrefix: must be a reversed domain name without a dot at its end, such as com.example.maintenance',
    ],
  ],
  [
    'an address without port',
    'http: { listen: localhost }',
    ['http.listen: must be an address and a port, such as 127.0.0.1:8700 or [::1]:8700'],
  ],
  ['a port too high', 'http: { listen: "localhost:65536" }', ['http.listen: has a port above 65535']],
  [
    'an open address without TLS',
    'http: { listen: "0.0.0.0:8700" }',
    [
      'http.listen: is not a loopback address, so tokens would be sent in clear text: set http.tls, or http.allowInsecure: true',
    ],
  ],
  [
    'health on the same address',
    'http: { health: "127.0.0.1:8700" }',
    [
      'http.health: is the address of http.listen, which already serves health and metrics: leave it out or use another port',
    ],
  ],
  ['TLS without a key', 'http: { tls: { cert: cert.pem } }', ['http.tls.key: is missing']],
  [
    'TLS files that are not there',
    'http: { tls: { cert: cert.pem, key: nokey.pem } }',
    ['http.tls.key: the file /etc/bridge/nokey.pem cannot be read (ENOENT)'],
  ],
  [
    'TLS files that hold something else',
    'http: { tls: { cert: words.pem, key: words.pem } }',
    [
      'http.tls.cert: is not a file with a certificate in PEM format',
      'http.tls.key: is not a file with a private key in PEM format, without a passphrase',
    ],
  ],
  [
    'the key of another certificate',
    'http: { tls: { cert: cert.pem, key: otherkey.pem } }',
    ['http.tls.key: is not the key of the certificate in http.tls.cert'],
  ],
  [
    'a token written down',
    'approvals: { approvers: { a: { token: correct-horse-battery-staple } } }',
    [
      'approvals.approvers.a.token: must be { env: NAME } or { file: PATH }: do not write secrets into the configuration',
    ],
  ],
  [
    'no token',
    'approvals: { approvers: { a: {} } }',
    [
      'approvals.approvers.a: needs a token, a certificate, a subject, a source in approvals.sources with approver: a, or a sink with approve: a',
    ],
  ],
  [
    'two ways to give the tokens of an approver',
    'approvals: { approvers: { a: { token: { env: T }, tokens: [{ env: U }] } } }',
    ['approvals.approvers.a: needs either token or tokens, not both'],
  ],
  ['no token of a reader', 'http: { readers: { r: {} } }', ['http.readers.r: needs either token or tokens']],
  [
    'two ways to give tokens',
    'http: { readers: { r: { token: { env: T }, tokens: [{ env: U }] } } }',
    ['http.readers.r: needs either token or tokens'],
  ],
  [
    'an empty list of tokens',
    'approvals: { approvers: { a: { tokens: [] } } }',
    ['approvals.approvers.a.tokens: must contain at least one token'],
  ],
  [
    'a variable that is not set',
    'approvals: { approvers: { a: { token: { env: NOPE } } } }',
    ['approvals.approvers.a.token: the environment variable NOPE is not set'],
  ],
  [
    'a variable that is empty',
    'approvals: { approvers: { a: { token: { env: EMPTY } } } }',
    ['approvals.approvers.a.token: the environment variable EMPTY is empty'],
  ],
  [
    'a file that is empty',
    'approvals: { approvers: { a: { token: { file: empty } } } }',
    ['approvals.approvers.a.token: the file /etc/bridge/empty is empty'],
  ],
  [
    'a token too short',
    'approvals: { approvers: { a: { tokens: [{ env: T }, { env: SHORT }] } } }',
    ['approvals.approvers.a.tokens[1]: is shorter than 16 characters: `openssl rand -hex 32` makes a good one'],
  ],
  ['a store that may hold nothing', 'store: { maxSize: 1MiB }', ['store.maxSize: must be at least 16MiB']],
  [
    'a store whose size is no size',
    'store: { maxSize: 1GB }',
    ['store.maxSize: must be a size such as 512B, 64KiB or 1MiB'],
  ],
  [
    'a token of equal characters',
    'approvals: { approvers: { a: { token: { env: EQUAL } } } }',
    [
      'approvals.approvers.a.token: repeats a single character, which is easy to guess: `openssl rand -hex 32` makes a good one',
    ],
  ],
  [
    'a token that no header carries',
    'approvals: { approvers: { a: { token: { env: SPACED } } } }',
    [
      'approvals.approvers.a.token: has a space, a line end or a non-ASCII character, which an Authorization header cannot contain',
    ],
  ],
  [
    'a token of two approvers',
    'approvals: { approvers: { a: { token: { env: T } }, b: { tokens: [{ env: U }, { env: T }] } } }',
    ['approvals.approvers.b.tokens[1]: is the same token as approvals.approvers.a.token: each caller needs its own'],
  ],
  [
    'a token of an approver and a reader',
    '{ approvals: { approvers: { a: { token: { env: T } } } }, http: { readers: { a: { token: { env: T } } } } }',
    ['http.readers.a.token: is the same token as approvals.approvers.a.token: each caller needs its own'],
  ],
  [
    'an empty scope',
    'approvals: { approvers: { a: { token: { env: T }, scope: { impacts: [] } } } }',
    ['approvals.approvers.a.scope.impacts: must not be empty: remove the key to set no condition'],
  ],
  [
    'a quorum that cannot be full',
    'approvals: { approvers: { a: { token: { env: T } } }, required: 2 }',
    ['approvals.required: needs more approvers than are configured (1 in approvals.approvers)'],
  ],
  [
    'a name twice in the quorum',
    'approvals: { approvers: { a: { token: { env: T } } }, required: [a, a] }',
    ['approvals.required: names an approver twice'],
  ],
  ['a quorum of nobody', 'approvals: { required: 0 }', ['approvals.required: must be at least 1']],
  [
    'a quorum in words',
    'approvals: { required: most }',
    ['approvals.required: must be any, all, a whole number of at least 1, or a list of distinct names of approvers'],
  ],
  [
    'an unknown name in the quorum',
    'approvals: { approvers: { orders: { token: { env: T } } }, required: [order] }',
    ['approvals.required[0]: is not a name in approvals.approvers; did you mean orders?'],
  ],
  ['a map of sinks without sinks', 'sinks: {}', ['sinks: is empty: add a sink, or remove the key for standard output']],
  ['sinks without content', 'sinks: ~', ['sinks: must be a mapping from names to sinks']],
  ['a sink without content', 'sinks: { a: ~ }', ['sinks.a: must be a mapping with a type']],
  ['a sink without type', 'sinks: { a: {} }', ['sinks.a.type: is missing (allowed: stdout, webhook)']],
  [
    'a sink whose type is misspelt as a key',
    'sinks: { a: { typ: webhook, url: x, retry: {} } }',
    [
      'sinks.a.type: is missing (allowed: stdout, webhook)',
      'sinks.a.typ: is not a key of the configuration (allowed: type, url, mode, timeout, headers, secrets, maxBatch, retry, filter); did you mean type?',
    ],
  ],
  [
    'a sink of an unknown type',
    'sinks: { a: { type: webhok, retry: { maxAge: 1 } } }',
    [
      'sinks.a.type: is not a type of sink (allowed: stdout, webhook); did you mean webhook?',
      'sinks.a.retry.maxAge: must be a duration such as 500ms, 10s, 15m or 30d',
    ],
  ],
  [
    'a sink with a bad name',
    'sinks: { "a b": { type: stdout } }',
    ['sinks.a b: is not a valid name: use 1 to 64 letters, digits, _ or -'],
  ],
  [
    'a second stdout',
    'sinks: { a: { type: stdout }, b: { type: stdout } }',
    ['sinks.b: is a second stdout sink next to sinks.a: only one can use standard output'],
  ],
  [
    "a key that the sink's type does not have",
    'sinks: { a: { type: stdout, ulr: x } }',
    ['sinks.a.ulr: is not a key of the configuration (allowed: type, retry, filter)'],
  ],
  [
    "a misspelt key of the sink's type",
    'sinks: { a: { type: webhook, url: x, timeuot: 1s } }',
    [
      'sinks.a.timeuot: is not a key of the configuration (allowed: type, url, mode, timeout, headers, secrets, maxBatch, retry, filter); did you mean timeout?',
    ],
  ],
  ['a missing key of the sink', 'sinks: { a: { type: webhook } }', ['sinks.a.url: is missing']],
  [
    'faults in a list of the sink',
    'sinks: { a: { type: webhook, url: x, secrets: [{ env: T }, x, { env: NOPE }] } }',
    ['sinks.a.secrets[1]: must be { env: NAME } or { file: PATH }: do not write secrets into the configuration'],
  ],
  [
    'an unknown change',
    'sinks: { a: { type: stdout, filter: { changes: [start] } } }',
    [
      'sinks.a.filter.changes[0]: is not an allowed value (allowed: scheduled, updated, started, ended, approval.recorded, approval.submitted, approval.failed, source.blind, source.restored); did you mean started?',
    ],
  ],
  [
    'a notice that nothing has',
    'sinks: { a: { type: stdout, filter: { notice: { above: 1h, below: 1h } } } }',
    ['sinks.a.filter.notice: lets nothing pass: above must be less than below'],
  ],
  [
    'half a number',
    'sinks: { a: { type: webhook, url: x, maxBatch: 1.5 } }',
    ['sinks.a.maxBatch: must be a whole number'],
  ],
];

const OTHER_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const AROUND = surroundings(
  {
    T: TOKEN,
    U: OTHER_TOKEN,
    SHORT: 'fifteen-letters',
    EQUAL: '0'.repeat(40),
    EMPTY: ' ',
    SPACED: 'correct horse battery staple',
  },
  {
    '/etc/bridge/cert.pem': CERTIFICATE,
    '/etc/bridge/key.pem': PRIVATE_KEY,
    '/etc/bridge/otherkey.pem': OTHER_KEY,
    '/etc/bridge/words.pem': 'sEcReT-MaRkEr',
    '/etc/bridge/empty': '\n',
  },
);

const withVersion = (text: string) => (text.startsWith('{') ? `{ version: 1, ${text.slice(1)}` : `version: 1\n${text}`);

for (const [title, text, faults] of CASES) {
  test(`a configuration with ${title} is rejected`, () => {
    assert.deepEqual(faultsOf(withVersion(text), AROUND), faults);
  });
}

const NO_ENDPOINTS = [
  'https://169.254.169.254',
  'http://u:p@host',
  'http://host/path',
  'http://host?x',
  'http://host#x',
  'host:80',
  'Discover',
  '',
];
for (const endpoint of NO_ENDPOINTS) {
  test(`"${endpoint}" is not an endpoint of a metadata service`, () => {
    assert.deepEqual(faultsOf(`{ version: 1, metadata: { endpoint: "${endpoint}" } }`), [
      'metadata.endpoint: must be "discover" or an http URL with only host and port, such as http://169.254.169.254',
    ]);
  });
}

test('the version is required and must be supported', () => {
  assert.deepEqual(faultsOf('store: { retain: 1d }'), ['version: is missing (allowed: 1)']);
  assert.deepEqual(faultsOf('version: "1"'), ['version: is not a version that this bridge supports (allowed: 1)']);
  assert.deepEqual(faultsOf(''), ['the configuration must be a mapping; the shortest one is `version: 1`']);
  assert.deepEqual(faultsOf('- version'), ['the configuration must be a mapping; the shortest one is `version: 1`']);
});

test('one run reports all faults of a file, without faults that are consequences of others', () => {
  const faults = faultsOf(
    `
version: 2
unknown: 1
metadata: { pollInterval: 1, bogus: 1 }
http: { listen: "0.0.0.0:1", bogus: 1, tls: { cert: 1, key: key.pem }, readers: { r: { token: { env: T } }, q: { token: nope } } }
approvals: { approvers: { a: { token: { env: T }, bogus: 1 }, b: { token: nope } }, required: 2, dryRun: 1 }
sinks: { a: { type: stdout, filter: { changes: 1, notice: { above: 2s, below: 1s } } }, b: { type: webhook, url: { env: NOPE }, mode: 1 } }
`,
    AROUND,
  ).map((line) => line.split(': ')[0]);
  assert.deepEqual(faults, [
    'version',
    'unknown',
    'metadata.bogus',
    'metadata.pollInterval',
    'http.bogus',
    'http.tls.cert',
    'http.readers.q.token',
    'approvals.approvers.a.bogus',
    'approvals.approvers.b.token',
    'approvals.dryRun',
    'sinks.a.filter.changes',
    'sinks.a.filter.notice',
    'sinks.b.mode',
    'sinks.b.url',
    'http.readers.r.token',
  ]);
});

test('duplicate keys are reported with their paths, together with all other faults', () => {
  assert.deepEqual(
    faultsOf(
      'version: 1\nsinks: { a: { type: stdout, type: stdout } }\nstore: { retain: 1d }\nstore: { retian: 1d }\n',
    ),
    [
      'sinks.a.type: is a duplicate key, repeated at line 2, column 29',
      'store: is a duplicate key, repeated at line 4, column 1',
      'store.retian: is not a key of the configuration (allowed: path, retain, maxSize); did you mean retain?',
    ],
  );
});

test('faults in the value of a secret are reported together with all other faults, for each sink with readable secrets', () => {
  const adapter: AdapterDefinition<{ url: Secret }> = {
    type: 'post',
    options: v.strictObject({ url: secret() }),
    secretFaults: ({ url }) =>
      url.reveal().startsWith('https:') ? [] : [{ key: 'url', message: 'must start with https://' }],
    create: () => assert.fail('reading a configuration creates no adapter'),
  };
  const sinks = [
    'good: { type: post, url: { env: GOOD } }',
    'bad: { type: post, url: { env: T } }',
    'none: { type: post, url: { env: NOPE } }',
  ];
  const around = {
    ...surroundings({ GOOD: 'https://a.test', T: TOKEN }),
    adapters: [adapter as AdapterDefinition<unknown>],
  };
  assert.deepEqual(faultsOf(`{ version: 1, store: { retain: 1 }, sinks: { ${sinks.join(', ')} } }`, around), [
    'store.retain: must be a duration such as 500ms, 10s, 15m or 30d',
    'sinks.none.url: the environment variable NOPE is not set',
    'sinks.bad.url: must start with https://',
  ]);
});

for (const [name, holder] of [
  ['__proto__', 'sinks'],
  ['constructor', 'http.readers'],
  ['prototype', 'approvals.approvers'],
] as const) {
  test(`${name} is not a valid name in ${holder}, and no prototype is changed`, () => {
    const value = holder === 'sinks' ? '{ type: stdout }' : '{ token: { env: T } }';
    const [section, key] = holder.split('.');
    const inner = `{ "${name}": ${value} }`;
    const text =
      key === undefined ? `{ version: 1, ${section}: ${inner} }` : `{ version: 1, ${section}: { ${key}: ${inner} } }`;
    assert.deepEqual(faultsOf(text, AROUND), [`${holder}.${name}: may not be used as a name`]);
    assert.equal(Object.hasOwn(Object.prototype, 'type'), false);
  });
}

test('a __proto__ key elsewhere is an unknown key', () => {
  assert.match(
    faultsOf('{ version: 1, "__proto__": { polluted: 1 } }')[0] ?? '',
    /^__proto__: is not a key of the configuration/,
  );
  assert.match(
    faultsOf('{ version: 1, store: { "__proto__": { polluted: 1 } } }')[0] ?? '',
    /^store.__proto__: is not a key of the configuration/,
  );
  assert.equal('polluted' in {}, false);
});

const KEYS = [
  'version',
  'metadata',
  'endpoint',
  'timeout',
  'http',
  'listen',
  'tls',
  'readers',
  'r',
  'token',
  'tokens',
  'certificate',
  'subject',
  'clientCa',
  'jwt',
  'issuer',
  'jwks',
  'approvals',
  'approvers',
  'required',
  'policy',
  'when',
  'then',
  'deadline',
  'group',
  'members',
  'sinks',
  'a',
  'type',
  'url',
  'headers',
  'secrets',
  'filter',
  'changes',
];

test('reading any file ends with a result, and shows no value of the file', () => {
  const marker = 'sEcReT-MaRkEr';
  const leaf = fc.constantFrom<unknown>(marker, `http://u:${marker}@h`, 1, true, null, 'stdout', 'webhook', 'all');
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 5 }),
    ),
  }));
  const file = fc.record(
    {
      http: value,
      approvals: value,
      sinks: fc.dictionary(fc.constantFrom('a', 'b'), value, { maxKeys: 2 }),
      metadata: value,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(file, (content) => {
      const result = readConfig(JSON.stringify({ version: 1, ...content }), AROUND);
      if ('faults' in result) assert.doesNotMatch(result.faults.map(formatFault).join('\n'), new RegExp(marker));
    }),
    { numRuns: 300 },
  );
});

test('the error that ends a start lists every fault on a line of its own', () => {
  const error = configError([
    { path: 'a.b', message: 'is wrong', allowed: 'x, y', suggestion: 'x' },
    { path: '', message: 'is odd' },
  ]);
  assert.equal(error.code, 'BRIDGE_CONFIG_INVALID');
  assert.equal(
    error.message,
    'the configuration has 2 faults:\n  a.b: is wrong (allowed: x, y); did you mean x?\n  is odd',
  );
});
