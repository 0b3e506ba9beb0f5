// The verb `check` → runs no program, warns of one that could not start; with --connect it fails.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { run } from '../../support/program.ts';
import { Scripts } from './start-command.ts';

async function checked(t: TestContext, scripts: Scripts, sink: object, ...options: readonly string[]) {
  const simulator = await localSimulator(t);
  const config = join(scripts.folder, 'bridge.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      version: 1,
      metadata: { endpoint: simulator.url },
      sinks: { drain: { type: 'command', ...sink } },
    }),
  );
  return run(t, ['check', '--config', config, ...options]);
}

for (const [what, sink, warning] of [
  ['a missing program', { run: ['/no/such/program'] }, /warning: sinks\.drain: .*the file does not exist/],
  [
    'a user that does not exist',
    { run: ['/bin/true'], user: 'no-such-user' },
    /warning: sinks\.drain: .*there is no user no-such-user/,
  ],
] as const) {
  test(`check warns of ${what}, and check --connect fails by it`, async (t) => {
    const plain = await checked(t, new Scripts(t), sink);
    assert.equal(plain.code, 0);
    assert.match(plain.stderr, warning);
    const connected = await checked(t, new Scripts(t), sink, '--connect');
    assert.equal(connected.code, 1);
    assert.match(connected.stdout, /^sinks\.drain: .*cannot be started/m);
  });
}

test('check runs nothing, and is silent about a program that could start', async (t) => {
  const scripts = new Scripts(t);
  const sink = { run: [scripts.write('run', ': > ran')], directory: scripts.folder };
  for (const options of [[], ['--connect']]) {
    const { code, stderr } = await checked(t, scripts, sink, ...options);
    assert.deepEqual([code, stderr], [0, '']);
  }
  assert.equal(scripts.read('ran'), null);
});
