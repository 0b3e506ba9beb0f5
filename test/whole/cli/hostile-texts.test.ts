// Texts full of terminal commands → shown escaped by every verb and by the log of `run`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EXAMPLE_EVENT, FakeMetadata, fakeDocument } from '../../far-sides/metadata-service.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { type Program, type ProgramOptions, run, start } from '../../support/program.ts';
import { bridgeFolder, hook, peek, TOKEN } from '../../support/running-bridge.ts';

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const skip =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

/** Clears the screen, forges a line, and colours by a character that JSON does not escape. */
const HOSTILE = 'a\u001b[2J\r\nforged\u009b31m\u202e';
const ESCAPED = 'a\\u001b[2J\\r\\nforged\\u009b31m\\u202e';
const EVENT = {
  EventType: 'Redeploy',
  Resources: [HOSTILE],
  Description: HOSTILE,
  NotBefore: 'Fri, 01 Jan 2100 00:00:00 GMT',
};
/** Of the log alone. */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

function onTerminal(t: TestContext, args: readonly string[], options: ProgramOptions = {}): Program {
  return start(t, [process.execPath, MAIN, ...args], { node: 'python3', main: ON_TERMINAL, ...options });
}

/** Nothing of it is a command to a terminal, and nobody forged a line. */
function expectHarmless(printed: string): void {
  const plain = printed.replaceAll(COLOURS, '').replaceAll('\r\n', '\n');
  assert.doesNotMatch(plain.replaceAll(/[\n\t]/g, ''), /[\p{Cc}\p{Bidi_Control}]/u, JSON.stringify(printed));
  assert.doesNotMatch(plain, /^\s*forged/m);
  assert.ok(plain.includes(ESCAPED), plain);
}

/** Every text that the service may choose is a hostile one. */
async function hostileService(t: TestContext): Promise<FakeMetadata> {
  const service = await FakeMetadata.start(t);
  const compute = { name: HOSTILE, vmId: 'v', subscriptionId: 's', resourceGroupName: 'g' };
  service.respond = ({ path }) => ({
    body: path.includes('/instance') ? JSON.stringify({ compute }) : fakeDocument(1, EVENT),
  });
  return service;
}

test('events prints the document in JSON that a terminal takes no command from, and that means the same', {
  skip,
}, async (t) => {
  const { url } = await hostileService(t);
  for (const more of [[], ['--count', '1']]) {
    const { stdout } = await onTerminal(t, ['events', '--endpoint', url, ...more]).ended();
    expectHarmless(stdout);
    const piped = await run(t, ['events', '--endpoint', url, ...more]);
    expectHarmless(piped.stdout);
    assert.deepEqual(JSON.parse(piped.stdout).Events, [{ ...EXAMPLE_EVENT, ...EVENT }]);
  }
});

test('run logs the name of the VM on one line, on a terminal and in JSON', { skip }, async (t) => {
  const { url } = await hostileService(t);
  const terminal = onTerminal(t, ['run', '--config', bridgeFolder(t, url, {}).config]);
  await poll(() => terminal.stdout.includes('watching') || terminal.hasEnded, 'a log line on the terminal');
  expectHarmless((await terminal.end('SIGTERM')).stdout);
  const piped = start(t, ['run', '--config', bridgeFolder(t, url, {}).config]);
  await piped.logs('watching');
  expectHarmless((await piped.end('SIGTERM')).stderr);
});

test('policy test prints names and types escaped', { skip }, async (t) => {
  const folder = folderOf(t);
  const event = join(folder, 'event.json');
  writeFileSync(
    event,
    JSON.stringify({ EventId: 'A', EventStatus: 'Scheduled', ...EVENT, EventSource: HOSTILE, EventType: HOSTILE }),
  );
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', {});
  const { stdout } = await onTerminal(t, ['policy', 'test', '--config', config, '--event', event]).ended();
  expectHarmless(stdout);
  expectHarmless((await run(t, ['policy', 'test', '--config', config, '--event', event])).stdout);
});

test('approve prints what a bridge, or what stands in its place, says escaped', { skip }, async (t) => {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  receiver.default = { status: 409, body: JSON.stringify({ title: 'no', detail: HOSTILE }) };
  const args = ['approve', HOSTILE, '--bridge', new URL(receiver.url).origin, '--token-env', 'MY_TOKEN'];
  for (const options of [{ input: 'y\n' }, { input: 'n\n' }]) {
    const { code, stdout } = await onTerminal(t, args, { env: { MY_TOKEN: TOKEN }, ...options }).ended();
    assert.equal(code, 1);
    expectHarmless(stdout);
  }
});

test('dead-letters list and show print what an event brought escaped', { skip }, async (t) => {
  const { url } = await hostileService(t);
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  receiver.default = { status: 422 };
  const folder = bridgeFolder(t, url, { sinks: { hooks: hook(receiver.url) } });
  const bridge = start(t, ['run', '--config', folder.config]);
  await poll(
    () => bridge.stderr.includes('watching') && peek(folder, (outbox) => outbox.queue.backlog('hooks').dead) === 1,
    'the dead letter',
  );
  await bridge.end('SIGTERM');
  const shown = await onTerminal(t, ['dead-letters', 'show', '--config', folder.config]).ended();
  expectHarmless(shown.stdout);
  const { stdout } = await run(t, ['dead-letters', 'show', '--config', folder.config]);
  expectHarmless(stdout);
  assert.equal(JSON.parse(stdout).cloudEvent.data.description, HOSTILE);
});

test('check names a fault of the configuration on one line', { skip }, async (t) => {
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', { [HOSTILE]: true });
  const { code, stdout } = await onTerminal(t, ['check', '--config', config]).ended();
  assert.equal(code, 78);
  expectHarmless(stdout);
});
