// The command on a terminal → log lines for people.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { start } from '../../support/program.ts';
import { bridgeFolder } from '../../support/running-bridge.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

test('run on a terminal logs lines for people, and ends as it does without one', { skip }, async (t) => {
  const simulator = await localSimulator(t);
  const { config } = bridgeFolder(t, simulator.url, {});
  const terminal = start(t, [process.execPath, MAIN, 'run', '--config', config], {
    node: 'python3',
    main: ON_TERMINAL,
  });
  await poll(() => terminal.stdout.includes('watching') || terminal.hasEnded, 'a log line on the terminal');
  const { code, stdout } = await terminal.end('SIGTERM');
  assert.match(stdout, /INFO.*: .*watching/);
  assert.doesNotMatch(stdout, /"level"/);
  assert.equal(code, 0, stdout);
});
