// The command line itself → its words and exit codes: help, version, wrong usage, an old Node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { VERBS as KNOWN_VERBS } from '../../../src/verbs/verbs.ts';
import { BUILD_VERSION } from '../../support/build-version.ts';
import { run } from '../../support/program.ts';

const VERBS = Object.keys(KNOWN_VERBS);
/** Should a faulty command line run all the same, it must ask nobody but this port, where nobody listens. */
const NOWHERE = ['--endpoint', 'http://127.0.0.1:1'];

for (const verb of VERBS) {
  test(`${verb} --help says on standard output what it does, what it takes, and shows examples`, async (t) => {
    const { code, stdout, stderr } = await run(t, [verb, '--help']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, new RegExp(`^Usage: scheduled-events-bridge ${verb}\\b`));
    assert.match(stdout, new RegExp(`\\nExamples:\\n {2}# .+\\n {2}.*scheduled-events-bridge ${verb}\\b`));
  });

  test(`${verb} refuses an option that it does not have with exit code 2`, async (t) => {
    const { code, stdout, stderr } = await run(t, [verb, '--no-such-option']);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, new RegExp(`^scheduled-events-bridge ${verb}: .*--no-such-option`));
  });
}

test('--version prints the version alone', async (t) => {
  assert.deepEqual(await run(t, ['--version']), {
    code: 0,
    signal: null,
    stdout: `${BUILD_VERSION}\n`,
    stderr: '',
  });
});

test('help names every verb: on standard output when asked for, else on standard error with exit code 2', async (t) => {
  const asked = await run(t, ['--help']);
  const [bare, unknown] = await Promise.all([run(t, []), run(t, ['no-such-verb'])]);
  for (const verb of VERBS) assert.match(asked.stdout, new RegExp(`\\n {2}${verb} +\\S`));
  assert.deepEqual([asked.code, asked.stderr], [0, '']);
  assert.deepEqual([bare.code, bare.stdout, bare.stderr], [2, '', asked.stdout]);
  assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
  assert.equal(
    unknown.stderr,
    'scheduled-events-bridge: unknown verb "no-such-verb"\n`scheduled-events-bridge --help` lists the verbs\n',
  );
});

test('help VERB is VERB --help', async (t) => {
  const [help, option, unknown] = await Promise.all([
    run(t, ['help', 'status']),
    run(t, ['status', '--help']),
    run(t, ['help', 'stauts']),
  ]);
  assert.deepEqual([help.code, help.stdout, help.stderr], [0, option.stdout, '']);
  assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
  assert.match(unknown.stderr, /unknown verb "stauts"; did you mean status\?\n/);
});

const MISSPELT: readonly (readonly [args: readonly string[], meant: string])[] = [
  [['stauts'], 'status'],
  [['halp'], 'help'],
  [['--versoin'], '--version'],
  [['Approve', 'A'], 'approve'],
  [['deadletters', 'list'], 'dead-letters'],
  [['status', '--brigde', 'http://127.0.0.1:1'], '--bridge'],
  [['approve', 'A', '--tokenenv=MY_TOKEN', '--bridge', 'http://127.0.0.1:1'], '--token-env'],
  [['run', '--conifg', '/nowhere/bridge.yaml'], '--config'],
  [['events', '--watc', '--endpoint', 'http://127.0.0.1:1'], '--watch'],
  [['status', '--helpp'], '--help'],
  [['dead-letters', 'lst', '--config', '/nowhere/bridge.yaml'], 'list'],
];

for (const [args, meant] of MISSPELT) {
  test(`\`${args.join(' ')}\` asks "did you mean ${meant}?" with exit code 2`, async (t) => {
    const { code, stdout, stderr } = await run(t, args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, stderr);
    assert.ok(stderr.includes(`; did you mean ${meant}?`), stderr);
  });
}

test('an option like no other gets no suggestion, and its value is not printed', async (t) => {
  const { code, stderr } = await run(t, ['status', '--passphrase=a-secret-text']);
  assert.equal(code, 2);
  assert.match(stderr, /unknown option --passphrase; see --help/);
  assert.doesNotMatch(stderr, /did you mean|a-secret-text/);
});

const WRONG: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [['run', 'bridge.yaml', '--config', '/nowhere/bridge.yaml'], /Unexpected argument 'bridge\.yaml'/],
  [
    ['run', '--config', '/nowhere/bridge.yaml', '--log-level', 'loud'],
    /--log-level takes one of silent, fatal.*not "loud"/,
  ],
  [['run', '--config'], /--config/],
  [['demo', 'fast'], /Unexpected argument 'fast'/],
  [['simulate', 'demo', '--listen', '127.0.0.1:0'], /Unexpected argument 'demo'/],
  [['simulate', '--listen', '127.0.0.1'], /--listen takes HOST:PORT/],
  [['simulate', '--listen', '127.0.0.1:65536'], /--listen takes HOST:PORT/],
  [['simulate', '--listen', '127.0.0.1:0', '--scenario', 'nightmare'], /no scenario "nightmare"; choose one of demo/],
  [['simulate', '--listen', '127.0.0.1:0', '--not-before', 'real'], /--not-before takes simulated or wall, not "real"/],
  [
    ['simulate', '--listen', '127.0.0.1:0', '--speed', '0'],
    /--speed takes a number above 0 and up to 1000000, not "0"/,
  ],
  [
    ['simulate', '--listen', '127.0.0.1:0', '--api-versions', '2020-07-01,2020-07-02'],
    /--api-versions takes some of 2024-07-09,.*not "2020-07-02"/,
  ],
  [
    ['simulate', '--listen', '127.0.0.1:0', '--unknown-api-version', '410'],
    /--unknown-api-version takes 400 or 404, not "410"/,
  ],
  [
    ['simulate', '--listen', '127.0.0.1:0', '--allow-host', 'azure.test:80'],
    /--allow-host takes a name or an address without a port/,
  ],
  [
    ['simulate', '--listen', '127.0.0.1:0', '--client', 'web'],
    /--client takes an IP address, such as 10\.77\.0\.2, not "web"/,
  ],
  [
    ['simulate', '--listen', '127.0.0.1:0', '--listen', '127.0.0.1:0', '--vms', '3'],
    /addresses, 2, is not the number of machines, 3/,
  ],
  [
    [
      'simulate',
      '--listen',
      '127.0.0.1:0',
      '--listen',
      '127.0.0.1:0',
      '--record',
      '/nowhere/x',
      '--upstream',
      'http://127.0.0.1:1',
    ],
    /--upstream has only one metadata service: give --listen once/,
  ],
  [['check'], /--config is missing/],
  [['check', 'bridge.yaml'], /Unexpected argument 'bridge\.yaml'/],
  [['events', 'all', ...NOWHERE], /Unexpected argument 'all'/],
  [['events', '--endpoint', 'https://127.0.0.1:1'], /--endpoint takes an http URL with only host and port/],
  [['events', '--endpoint', 'http://127.0.0.1:1/metadata'], /--endpoint takes an http URL with only host and port/],
  [
    ['events', '--api-version', 'latest', ...NOWHERE],
    /--api-version takes a version such as .*2020-07-01.*, not "latest"/,
  ],
  [['events', '--watch', '--count', '0', ...NOWHERE], /--count takes a whole number of at least 1, not "0"/],
  [['approve', ...NOWHERE], /at least one EventId/],
  [['approve', 'A', '--bridge', 'http://127.0.0.1:1', ...NOWHERE], /--endpoint and --bridge exclude each other/],
  [['approve', 'A', '--bridge', 'ftp://127.0.0.1:1', '--token-env', 'TOKEN'], /--bridge takes an http or https URL/],
  [['approve', 'A', '--bridge', 'http://127.0.0.1:1'], /--token-env is missing/],
  [['approve', 'A', '--bridge', 'http://127.0.0.1:1', '--token-env', 'NOT_SET'], /variable NOT_SET.*empty or not set/],
  [['policy', '--config', '/nowhere/bridge.yaml'], /policy takes the word test/],
  [['policy', 'try', '--config', '/nowhere/bridge.yaml'], /policy takes the word test, not "try"/],
  [['policy', 'test'], /--config is missing/],
  [
    ['policy', 'test', '--config', '/nowhere/b.yaml', '--event', '-', '--scenario', 'demo'],
    /--event and --scenario exclude each other/,
  ],
  [['policy', 'test', '--config', '/nowhere/b.yaml', '--event', '-', '--vms', '2'], /--vms is for scenarios/],
  [['dead-letters', '--config', '/nowhere/bridge.yaml'], /must be one of list, show, retry, discard/],
  [
    ['dead-letters', 'bury', '--config', '/nowhere/bridge.yaml'],
    /must be one of list, show, retry, discard, not "bury"/,
  ],
  [['dead-letters', 'discard', '--config', '/nowhere/bridge.yaml'], /give the IDs, or --sink/],
  [['dead-letters', 'list'], /--config is missing/],
  [['replay', '--since', '1h', '--config', '/nowhere/bridge.yaml'], /--sink is missing/],
  [['replay', '--sink', 'hooks', '--config', '/nowhere/bridge.yaml'], /--since is missing/],
  [['resume', '--config', '/nowhere/bridge.yaml'], /give exactly one sink/],
  [['resume', '--sink', 'hooks'], /--config is missing/],
  [['resume', 'hooks', '--sink', 'hooks', '--config', '/nowhere/bridge.yaml'], /give the sink once/],
  [['resume', '--sink', 'hooks', '--bridge', 'http://127.0.0.1:1'], /--sink is for the store/],
  [['resume', 'hooks', 'audit', '--config', '/nowhere/bridge.yaml'], /give exactly one sink/],
  [['explain'], /give exactly one EventId/],
  [['hold', '--reason', 'x', '--token-env', 'T'], /give exactly one EventId/],
  [['hold', 'A', '--token-env', 'T'], /--reason is missing/],
  [['hold', 'A', '--reason', 'x', '--bridge', 'http://127.0.0.1:1'], /give --token-env NAME, or --config FILE/],
  [['release', '--bridge', 'http://127.0.0.1:1', '--token-env', 'T'], /give exactly one EventId/],
  [['release', 'A', '--bridge', 'http://127.0.0.1:1', '--token-env', 'NOT_SET'], /variable NOT_SET.*empty or not set/],
  [['pause', '--token-env', 'T'], /give exactly one sink/],
  [['reload', 'now', '--token-env', 'T'], /Unexpected argument 'now'/],
  [
    ['reload', '--config', '/nowhere/b.yaml', '--bridge', 'http://127.0.0.1:1'],
    /--config and --bridge exclude each other/,
  ],
  [
    ['status', '--config', '/nowhere/b.yaml', '--bridge', 'http://127.0.0.1:1'],
    /--config and --bridge exclude each other/,
  ],
  [
    ['tail', '--config', '/nowhere/b.yaml', '--bridge', 'http://127.0.0.1:1'],
    /--config and --bridge exclude each other/,
  ],
  [['tail', '--bridge', 'http://127.0.0.1:1', '--since', 'yesterday'], /--since takes RFC 3339 .* not "yesterday"/],
  [
    ['tail', '--bridge', 'http://127.0.0.1:1', '--changes', 'scheduled,gone'],
    /--changes takes scheduled,.* not "gone"/,
  ],
  [['tail', '--bridge', 'ftp://127.0.0.1:1'], /--bridge takes an http or https URL/],
  [['completion'], /the first word must be one of bash, zsh, fish/],
  [['completion', 'bsh'], /one of bash, zsh, fish, not "bsh"; did you mean bash\?/],
  [['secret', 'hooks'], /Unexpected argument 'hooks'/],
  [['secret', '--type', 'rsa'], /--type takes symmetric or ed25519, not "rsa"/],
  [['secret', '--type', 'ed25519', '--public', '/nowhere/hook.pem'], /--type and --public exclude each other/],
  [['secret', '--public', '/nowhere/hook.pem'], /the file \/nowhere\/hook\.pem cannot be read \(ENOENT\)/],
];

for (const [args, says] of WRONG) {
  test(`\`${args.join(' ')}\` is wrong usage: exit code 2, and what is wrong on standard error`, async (t) => {
    const { code, stdout, stderr } = await run(t, args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, stderr);
    assert.match(stderr, says);
    assert.match(stderr, /\(BRIDGE_USAGE\)\n$/);
  });
}

test('an older Node says which one is needed and how to get it, with exit code 1', async (t) => {
  const node = '/usr/bin/node';
  const version = versionOf(node);
  if (version === null || version >= 24) {
    t.skip(`${node} is ${version === null ? 'not there' : `Node ${version}`}: there is no older Node to refuse`);
    return;
  }
  const { code, stdout, stderr } = await run(t, ['--version'], { node });
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.match(
    stderr,
    /^scheduled-events-bridge needs Node 24 or newer; this is \d+\.\d+\.\d+\. .*npm ci.*npx scheduled-events-bridge.*\n$/,
  );
});

/** The major version; null where there is no such program. */
function versionOf(node: string): number | null {
  try {
    return Number.parseInt(execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1), 10);
  } catch {
    return null;
  }
}
