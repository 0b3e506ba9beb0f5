// The built bridge stopped while programs run → TERM, time to tidy up, KILL; none is left.
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { isAlive, Scripts } from '../../adapters/command/start-command.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import type { Program, ProgramOptions } from '../../support/program.ts';
import { start } from '../../support/program.ts';
import { bridgeFolder, peek } from '../../support/running-bridge.ts';

/** The longest stop of all (behaviour 1.6) is 16 s; the rest is for a busy machine. */
const PATIENCE_MS = 45_000;

/** A program that is running, started by a bridge that is running. */
async function preparing(t: TestContext, script: string, more: readonly string[] = [], options?: ProgramOptions) {
  const simulator = await localSimulator(t);
  const scripts = new Scripts(t);
  const sink = { type: 'command', run: [scripts.write('prepare', script)], directory: scripts.folder };
  const folder = bridgeFolder(t, simulator.url, { sinks: { drain: sink } });
  const bridge = start(t, ['run', '--config', folder.config, ...more], options);
  await bridge.logs('"watching"');
  simulator.schedule();
  const pids = (await scripts.line('pids')).split(' ').map(Number);
  t.after(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
  const queued = () => peek(folder, (outbox) => outbox.queue.backlog('drain').queued);
  return { bridge, scripts, pids, queued };
}

/** Fails if the process does not end with 0. */
async function endsWell(bridge: Program): Promise<void> {
  const { code, signal } = await Promise.race([
    bridge.ended(),
    new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error('the bridge did not end')), PATIENCE_MS).unref(),
    ),
  ]);
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
}

suite('a stop with programs of command sinks', { concurrency: 3 }, () => {
  test('a program and its child that ignore TERM are killed before the bridge ends, after any number of signals', async (t) => {
    const child = `sh -c 'trap "" TERM INT; while :; do sleep 0.2; done' &`;
    const { bridge, pids } = await preparing(
      t,
      `trap '' TERM INT; ${child} echo $! $$ > pids; while :; do sleep 0.2; done`,
    );
    bridge.child.kill('SIGTERM');
    await bridge.logs('"ending"');
    bridge.child.kill('SIGINT');
    bridge.child.kill('SIGTERM');
    await endsWell(bridge);
    assert.deepEqual(pids.filter(isAlive), []);
  });

  test('a program that takes 3 s to tidy up after TERM has tidied up when the bridge ends', async (t) => {
    const { bridge, scripts, pids, queued } = await preparing(
      t,
      `trap 'sleep 3; echo undone > record; exit 1' TERM; echo $$ > pids; while :; do sleep 0.2; done`,
    );
    bridge.child.kill('SIGTERM');
    await endsWell(bridge);
    assert.equal(scripts.read('record'), 'undone\n');
    assert.deepEqual(pids.filter(isAlive), []);
    assert.equal(queued(), 1, 'it runs again at the next start');
    assert.doesNotMatch(bridge.stderr, /closed cleanly|not closed in time|could not be ended/);
  });

  test('the same when a line of standard input stops the bridge, as the service of Windows does', async (t) => {
    const { bridge, scripts, pids } = await preparing(
      t,
      `trap 'sleep 3; echo undone > record; exit 1' TERM; echo $$ > pids; while :; do sleep 0.2; done`,
      ['--control-stdin'],
      { input: null },
    );
    bridge.child.stdin?.write('stop\n');
    await endsWell(bridge);
    assert.equal(scripts.read('record'), 'undone\n');
    assert.deepEqual(pids.filter(isAlive), []);
  });

  test('a program that ends by itself within the time for running deliveries gets no TERM, and its delivery is accepted', async (t) => {
    const { bridge, scripts, queued } = await preparing(
      t,
      `trap 'echo TERM > record; exit 1' TERM; echo $$ > pids; sleep 2; sleep 2; echo done > record`,
    );
    bridge.child.kill('SIGTERM');
    await endsWell(bridge);
    assert.equal(scripts.read('record'), 'done\n');
    assert.equal(queued(), 0);
  });
});
