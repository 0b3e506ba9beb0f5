// Proxies in the environment → not used by bridge and recorder for the metadata service.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { FakeMetadata } from '../../far-sides/metadata-service.ts';
import { trapProxy } from '../../far-sides/trap-proxy.ts';

describe('the proxies that the environment names: the bridge', () => {
  const CHILD = `
    const { createHttpTransport } = await import(${JSON.stringify(new URL('../../../src/metadata/http-transport.ts', import.meta.url).href)});
    const transport = createHttpTransport({ after: () => () => {}, elapsedMs: () => 0 });
    const request = (method, body) => ({ method, url: process.env.TARGET, headers: { Metadata: 'true' }, timeoutMs: 1000, body });
    const signal = new AbortController().signal;
    const own = [await transport.send(request('GET'), signal), await transport.send(request('POST', '{}'), signal)];
    const trapped = process.env.FETCH ? (await fetch(process.env.TARGET).catch(() => ({ status: 'none' }))).status : '';
    process.stdout.write(own.map((answer) => answer.status).join() + ' ' + trapped);
    transport.close();
  `;

  /** Runs a child with every proxy variable set to a trap, and counts what falls into it. */
  async function runWithTrap(
    t: TestContext,
    target: string,
    env: Record<string, string>,
  ): Promise<{ stdout: string; trapped: number }> {
    let trapped = 0;
    const trap = createServer((socket) => {
      trapped += 1;
      socket.on('error', () => {});
      socket.end('HTTP/1.1 299 Trapped\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    trap.listen(0, '127.0.0.1');
    await once(trap, 'listening');
    t.after(() => trap.close());
    const proxy = `http://127.0.0.1:${(trap.address() as { port: number }).port}`;
    const proxies = Object.fromEntries(
      ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'all_proxy'].map((name) => [name, proxy]),
    );
    const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD], {
      env: { ...process.env, ...proxies, NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1', TARGET: target, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    await once(child, 'close');
    return { stdout, trapped };
  }

  test('are not used, for any environment', async (t) => {
    const fake = await FakeMetadata.start(t);
    const { stdout, trapped } = await runWithTrap(t, fake.url, {});
    assert.equal(stdout, '200,200 ');
    assert.equal(trapped, 0);
    assert.equal(fake.requests.length, 2);
  });

  test('would be used by others: the trap works', async (t) => {
    const fake = await FakeMetadata.start(t);
    const { stdout, trapped } = await runWithTrap(t, fake.url, { FETCH: '1' });
    assert.ok(stdout.startsWith('200,200 '));
    assert.ok(trapped > 0);
  });
});

test('the proxies that the environment names: the recorder visits none', async (t) => {
  const trap = await trapProxy(t);
  const fake = await FakeMetadata.start(t);
  const program = `
    const { connectUpstream } = await import(${JSON.stringify(new URL('../../../src/simulator/recording/upstream.ts', import.meta.url).href)});
    const { systemDeps } = await import(${JSON.stringify(new URL('../../../src/time/system.ts', import.meta.url).href)});
    using upstream = connectUpstream(${JSON.stringify(fake.url)}, systemDeps());
    const request = { method: 'GET', url: '/metadata', headers: {}, body: new Uint8Array() };
    process.stdout.write(String((await upstream.forward(request, new AbortController().signal)).status));`;
  // Node reads these variables once, when it starts.
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: trap.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [status] = (await once(child.stdout, 'data')) as [Buffer];
  await once(child, 'close');
  assert.deepEqual([String(status), trap.visits(), fake.requests.length], ['200', 0, 1]);
});
