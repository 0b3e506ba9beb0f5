// A process with a service-bus sink → what it loads, what it prints, and that it ends.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { QUEUE } from './start-service-bus.ts';

const run = promisify(execFile);
const HELPER = new URL('./start-service-bus.ts', import.meta.url).href;

/** Runs `code` with `adapter` and `deliver` of a sink of this connection string. */
async function inProcess(connectionString: string, code: string) {
  const script = `
    const { createServiceBus } = await import(${JSON.stringify(HELPER)});
    const server = { connectionString: ${JSON.stringify(connectionString)}, closeFirst: () => {} };
    const { adapter, deliver } = createServiceBus(server);
    const { createRequire } = await import('node:module');
    const loaded = () => Object.keys(createRequire(process.cwd() + '/x.js').cache).filter((path) => /@azure.(service-bus|core-amqp)/.test(path)).length;
    ${code}
  `;
  return await run(process.execPath, ['--input-type=module', '--eval', script], { env: { PATH: process.env['PATH'] } });
}

test('a sink that is created and closed unused loads no SDK; a used sink does', async (t) => {
  const server = await serviceBusServer(t);
  server.queue(QUEUE);
  const unused = await inProcess(
    server.connectionString,
    'await adapter[Symbol.asyncDispose](); console.log(loaded());',
  );
  assert.equal(unused.stdout, '0\n');
  const code = 'console.log(await deliver()); await adapter[Symbol.asyncDispose](); console.log(loaded() > 0);';
  const used = await inProcess(server.connectionString, code);
  assert.equal(used.stdout, 'accepted\ntrue\n');
});

test('the SDK prints nothing, and a closed sink lets the process end', async (t) => {
  const server = await serviceBusServer(t);
  server.queue(QUEUE);
  const code = "console.log(await deliver({ mark: 'nobody-may-log' })); await adapter[Symbol.asyncDispose]();";
  assert.deepEqual(await inProcess(server.connectionString, code), { stdout: 'accepted\n', stderr: '' });
});
