// A Node without time-zone data, and windows → a fault of check, policy test and run.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { run } from '../../support/program.ts';
import { bridgeFolder } from '../../support/running-bridge.ts';

/** As a Node that was built without Intl. */
const WITHOUT_INTL = { flags: ['--import', 'data:text/javascript,delete globalThis.Intl'] };

const POLICY = [{ when: {}, then: 'approve', during: ['nights'] }];
const NIGHTS = { days: ['Mon'], from: '22:00', to: '05:00', timeZone: 'Europe/Berlin' };

test('windows without time-zone data are a fault before the bridge starts, not a wrong time', async (t) => {
  const approvals = { windows: { nights: NIGHTS }, policy: POLICY };
  const { config, store } = bridgeFolder(t, 'http://127.0.0.1:1', { approvals });
  for (const words of [['check'], ['policy', 'test'], ['run']]) {
    const { code, stdout, stderr } = await run(t, [...words, '--config', config], WITHOUT_INTL);
    assert.match(stderr, /has 1 fault:\n {2}approvals\.windows: cannot be used, .* install Node\.js with full ICU/);
    assert.deepEqual({ code, stdout }, { code: 78, stdout: '' }, words.join(' '));
  }
  assert.equal(existsSync(store), false);
  const { code, stdout } = await run(t, ['check', '--config', config]);
  assert.equal(code, 0, 'the same file with time-zone data');
  assert.match(stdout, /the configuration is valid/);
});

test('without windows, a Node without time-zone data is enough', async (t) => {
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { approvals: { policy: 'documentation' } });
  const { code, stderr } = await run(t, ['check', '--config', config], WITHOUT_INTL);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});
