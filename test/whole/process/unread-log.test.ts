// The logger in a process of its own whose standard error nobody reads.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('an unread standard error stops neither the event loop nor the exit at SIGTERM', {
  timeout: 60_000,
}, async (t) => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('unread-log.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  child.stderr.pause();
  const [told] = (await once(child.stdout, 'data')) as [Buffer];
  assert.ok(JSON.parse(String(told)).dropped >= 10);
  child.kill('SIGTERM');
  const abandoned = AbortSignal.timeout(10_000);
  assert.deepEqual(await once(child, 'exit', { signal: abandoned }), [0, null]);
});
