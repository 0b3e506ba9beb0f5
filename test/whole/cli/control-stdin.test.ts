// `run --control-stdin`: stop and reload by lines of standard input, for systems without signals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { start } from '../../support/program.ts';
import { bridgeFolder } from '../../support/running-bridge.ts';

test('a line reloads, as SIGHUP does, and another one ends it, as SIGTERM does', async (t) => {
  const simulator = await localSimulator(t);
  const { config } = bridgeFolder(t, simulator.url, {});
  const bridge = start(t, ['run', '--config', config, '--control-stdin'], { input: null });
  await bridge.logs('"watching"');
  bridge.child.stdin?.write('reload\r\n');
  await bridge.logs('"by":"standard input"');
  bridge.child.stdin?.write('stop\n');
  const { code, stderr } = await bridge.ended();
  assert.equal(code, 0);
  assert.match(stderr, /"msg":"ending"/);
});

test('it ends when its parent process ends, also while it starts; without the option it does not check', async (t) => {
  const simulator = await localSimulator(t);
  const { config } = bridgeFolder(t, simulator.url, {});
  assert.equal((await start(t, ['run', '--config', config, '--control-stdin']).ended()).code, 0);
  const deaf = start(t, ['run', '--config', config], { input: 'stop\n' });
  await deaf.logs('"watching"');
  assert.equal((await deaf.end('SIGTERM')).code, 0);
});
