// readConfig: what a good configuration becomes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfig } from '../../../src/config/check-config.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../far-sides/certificate.ts';
import { configOf, OTHER_TOKEN, surroundings, TOKEN } from '../../support/config.ts';

test('the shortest configuration has every default', () => {
  const { sinks, kinds, ...sections } = configOf('version: 1');
  assert.ok(kinds.some(({ type }) => type === 'stdout'));
  assert.deepEqual(sections, {
    metadata: {
      endpoint: 'http://169.254.169.254',
      apiVersion: '2020-07-01',
      pollIntervalMs: 1000,
      timeoutMs: 10_000,
      firstTimeoutMs: 130_000,
      settleMs: 300_000,
    },
    cloudevents: { source: null, typePrefix: 'io.github.scheduled-events-bridge', observer: [] },
    publish: { resources: 'all' },
    store: { path: '/etc/bridge/scheduled-events-bridge-data', retainMs: 2_592_000_000, maxBytes: null },
    http: {
      listen: { host: '127.0.0.1', port: 8700 },
      tls: null,
      readers: {},
      drain: null,
      health: null,
      console: false,
      allowInsecure: false,
    },
    approvals: {
      approvers: {},
      required: 'any',
      windows: {},
      budgets: {},
      policy: null,
      jwt: null,
      group: { submit: 'every', failoverAfterMs: 10_000, members: [] },
      dryRun: false,
      sources: {},
    },
    log: { level: 'info' },
    deprecated: [],
  });
  assert.deepEqual(Object.keys(sinks), ['stdout']);
  const { type, options, retry, filter } = sinks['stdout'] ?? assert.fail('no sink');
  assert.deepEqual(
    { type, options, retry, filter },
    { type: 'stdout', options: {}, retry: { maxAgeMs: 86_400_000 }, filter: {} },
  );
});

test('without a configuration every setting has its default', () => {
  const { adapters, env, directory } = surroundings();
  assert.deepEqual(defaultConfig({ adapters, env, directory }), {
    options: configOf('version: 1'),
    warnings: [],
    written: { version: 1, sinks: { stdout: { type: 'stdout' } } },
  });
});

test("all settings are converted to the program's units", () => {
  const config = configOf(
    `
version: 1
metadata: { endpoint: "http://[::1]:8080/", apiVersion: newest, pollInterval: 50ms, timeout: 1s, firstTimeout: 2m, settle: 0s }
cloudevents: { source: vm, typePrefix: com.example.maintenance, observer: [zone, tags.team] }
publish: { resources: own }
store: { path: /var/lib/bridge, retain: 1d, maxSize: 1GiB }
http:
  listen: "[::]:8700"
  tls: { cert: cert.pem, key: /keys/key.pem }
  readers: { grafana: { token: { env: READ_TOKEN } } }
  health: 0.0.0.0:8701
approvals:
  approvers:
    orders: { tokens: [{ file: orders.token }, { env: NEXT }], scope: { impacts: [Freeze], resources: ["web_*"] } }
  required: [orders]
  dryRun: true
sinks:
  hooks:
    type: webhook
    url: { env: URL }
    timeout: 3s
    secrets: [{ env: NEXT }]
    retry: { maxAge: 1h }
    filter: { changes: [scheduled, approval.failed], impacts: [Reboot], initiators: [Platform], resources: ["web_*"], notice: { above: 30s, below: 15m } }
`,
    surroundings(
      { READ_TOKEN: TOKEN, NEXT: OTHER_TOKEN, URL: 'https://example.com/hook?key=1' },
      {
        '/etc/bridge/orders.token': 'a-third-horse-a-third-staple\n',
        '/etc/bridge/cert.pem': CERTIFICATE,
        '/keys/key.pem': PRIVATE_KEY,
      },
    ),
  );
  assert.deepEqual(config.metadata, {
    endpoint: 'http://[::1]:8080',
    apiVersion: 'newest',
    pollIntervalMs: 50,
    timeoutMs: 1000,
    firstTimeoutMs: 120_000,
    settleMs: 0,
  });
  assert.deepEqual(config.cloudevents, {
    source: 'vm',
    typePrefix: 'com.example.maintenance',
    observer: ['zone', 'tags.team'],
  });
  assert.deepEqual(config.store, { path: '/var/lib/bridge', retainMs: 86_400_000, maxBytes: 1_073_741_824 });
  assert.deepEqual(
    [config.http.listen, config.http.health],
    [
      { host: '::', port: 8700 },
      { host: '0.0.0.0', port: 8701 },
    ],
  );
  assert.deepEqual(
    [config.http.tls?.cert.reveal(), config.http.tls?.key.reveal()],
    [CERTIFICATE.trimEnd(), PRIVATE_KEY.trimEnd()],
  );
  assert.deepEqual(
    config.http.readers['grafana']?.tokens.map((token) => token.reveal()),
    [TOKEN],
  );
  const orders = config.approvals.approvers['orders'];
  assert.deepEqual(orders?.scope, { impacts: ['Freeze'], resources: ['web_*'] });
  assert.deepEqual(
    orders?.tokens.map((token) => token.reveal()),
    ['a-third-horse-a-third-staple', OTHER_TOKEN],
  );
  assert.deepEqual([config.approvals.required, config.approvals.dryRun], [['orders'], true]);
  const { options, retry, filter } = config.sinks['hooks'] ?? assert.fail('no sink');
  const { url, timeoutMs } = options as { url: Secret; timeoutMs: number };
  assert.ok(url instanceof Secret);
  assert.deepEqual([url.reveal(), timeoutMs, retry.maxAgeMs], ['https://example.com/hook?key=1', 3000, 3_600_000]);
  assert.deepEqual(filter, {
    changes: ['scheduled', 'approval.failed'],
    impacts: ['Reboot'],
    initiators: ['Platform'],
    resources: ['web_*'],
    notice: { aboveMs: 30_000, belowMs: 900_000 },
  });
});

test('a secret file loses one line end and nothing else', () => {
  const read = (text: string) => {
    const around = surroundings({}, { '/etc/bridge/s': text });
    const sink =
      configOf('{ version: 1, sinks: { h: { type: webhook, url: { file: s } } } }', around).sinks['h'] ??
      assert.fail('no sink');
    return (sink.options as { url: Secret }).url.reveal();
  };
  assert.deepEqual(['a\n', 'a\r\n', 'a', ' a \n', 'a\n\n'].map(read), ['a', 'a', 'a', ' a ', 'a\n']);
});

test('an approver may list the same token twice while it is being replaced', () => {
  const config = configOf(
    '{ version: 1, approvals: { approvers: { a: { tokens: [{ env: T }, { env: U }] } } } }',
    surroundings({ T: TOKEN, U: TOKEN }),
  );
  assert.equal(config.approvals.approvers['a']?.tokens.length, 2);
});

test('in a systemd service the store is in the StateDirectory', () => {
  const pathIn = (env: Record<string, string>, text = 'version: 1') => configOf(text, surroundings(env)).store.path;
  assert.equal(pathIn({ STATE_DIRECTORY: '/var/lib/bridge:/var/lib/other' }), '/var/lib/bridge');
  assert.equal(pathIn({ STATE_DIRECTORY: '' }), '/etc/bridge/scheduled-events-bridge-data');
  assert.equal(
    pathIn({ STATE_DIRECTORY: '/var/lib/bridge' }, '{ version: 1, store: { path: data } }'),
    '/etc/bridge/data',
  );
});

test('loopback in all its spellings needs no TLS', () => {
  for (const [text, host] of [
    ['127.9.9.9:0', '127.9.9.9'],
    ['localhost:65535', 'localhost'],
    ['[::1]:1', '::1'],
  ]) {
    assert.equal(configOf(`{ version: 1, http: { listen: "${text}" } }`).http.listen.host, host);
  }
});

test('sinks and approvers keep the order of the file', () => {
  const config = configOf(
    '{ version: 1, sinks: { z: { type: stdout }, a: { type: webhook, url: "https://a.example" } } }',
  );
  assert.deepEqual(Object.keys(config.sinks), ['z', 'a']);
});

test("a sink's fingerprint changes with its keys and its secrets' values, not with their order or with other sinks", () => {
  const mark = (sinks: string, env: Record<string, string> = { S: 'one' }) =>
    configOf(`{ version: 1, sinks: { ${sinks} } }`, surroundings(env)).sinks['h']?.fingerprint;
  const first = mark('h: { type: webhook, url: "https://a.example", secrets: [{ env: S }] }');
  assert.match(first ?? '', /^[0-9a-f]{64}$/);
  assert.equal(
    mark('o: { type: stdout }, h: { secrets: [{ env: S }], url: "https://a.example", type: webhook }'),
    first,
  );
  assert.notEqual(mark('h: { type: webhook, url: "https://a.example", secrets: [{ env: S }] }', { S: 'two' }), first);
  assert.notEqual(
    mark('h: { type: webhook, url: "https://a.example", secrets: [{ env: S }], retry: { maxAge: 1h } }'),
    first,
  );
});

test('a configuration that is printed or converted to JSON shows no secret', () => {
  const config = configOf(
    '{ version: 1, approvals: { approvers: { a: { token: { env: T } } } } }',
    surroundings({ T: TOKEN }),
  );
  assert.doesNotMatch(JSON.stringify(config.approvals), new RegExp(TOKEN));
});
