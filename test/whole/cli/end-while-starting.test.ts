// SIGTERM and SIGINT at any moment of a start → a quick end, with the code of one asked for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { NetworkNamespace, noNetworkNamespace } from '../../support/network-namespace.ts';
import { poll } from '../../support/poll.ts';
import { type Program, start } from '../../support/program.ts';
import { bridgeFolder } from '../../support/running-bridge.ts';

/** Far more than an end takes, far less than what it must not wait for. */
const PATIENCE_MS = 30_000;

/** Sends it and waits, not for ever. */
async function told(program: Program, signal: NodeJS.Signals) {
  const patience = setTimeout(() => program.child.kill('SIGKILL'), PATIENCE_MS);
  const { code, signal: by, stderr } = await program.end(signal);
  clearTimeout(patience);
  return { code, by, stderr };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`run that gets ${signal} at any of many moments of its start exits with 0, or by the signal before it has begun`, async (t) => {
    const folder = bridgeFolder(t, 'http://127.0.0.1:1', { sinks: { audit: { type: 'stdout' } } });
    const outcomes = new Set<string>();
    for (let afterMs = 0; afterMs <= 600; afterMs += 40) {
      const program = start(t, ['run', '--config', folder.config]);
      // No event marks these moments: any will do.
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      const { code, by, stderr } = await told(program, signal);
      assert.ok(code === 0 || by === signal, `after ${afterMs} ms: ${code} ${by} ${stderr}`);
      outcomes.add(code === 0 ? 'told' : 'cut');
    }
    assert.ok(outcomes.has('told'));
    // What was left in between is no obstacle.
    const again = start(t, ['run', '--config', folder.config]);
    await again.logs('"listening"');
    assert.equal((await told(again, 'SIGTERM')).code, 0);
  });
}

test('a verb that waits for a pipe without a writer ends at a signal', async (t) => {
  const folder = folderOf(t);
  const [config, pipe] = [join(folder, 'bridge.yaml'), join(folder, 'pipe')];
  writeFileSync(config, 'version: 1\n');
  execFileSync('mkfifo', [pipe]);
  for (const args of [
    ['policy', 'test', '--config', config, '--event', pipe],
    ['simulate', '--listen', '127.0.0.1:0', '--scenario', pipe],
  ]) {
    const program = start(t, args);
    const end = await otherEnd(pipe);
    assert.deepEqual(await told(program, 'SIGTERM'), { code: 0, by: null, stderr: '' });
    closeSync(end);
  }
});

/** Opened for writing once somebody opens it for reading. */
async function otherEnd(pipe: string): Promise<number> {
  let end: number | null = null;
  await poll(() => {
    try {
      end ??= openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENXIO');
    }
    return end !== null;
  }, 'a reader of the pipe');
  return end ?? -1;
}

/** Takes every question and answers none. */
const SILENT = `python3 -uc "
import socket
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(('127.0.0.1', 53))
print('open')
while True: print('asked', len(names.recv(4096)))"`;

test('a start that waits for a name server that never answers ends at a signal', {
  skip: noNetworkNamespace(),
}, async (t) => {
  const namespace = NetworkNamespace.create(t);
  const own = `/etc/netns/${namespace.name}`;
  mkdirSync(own, { recursive: true });
  t.after(() => rmSync(own, { recursive: true }));
  // Three minutes until the lookup gives up.
  writeFileSync(join(own, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:30 attempts:3\n');
  const names = namespace.startLine(SILENT);
  await names.lines(1);
  const { config } = bridgeFolder(t, 'http://127.0.0.1:1', {
    http: { listen: 'bridge.example.com:8700', allowInsecure: true },
    sinks: { audit: { type: 'stdout' } },
  });
  const program = namespace.startBridge(['run', '--config', config]);
  await names.lines(2);
  const { stderr, ...end } = await told(program, 'SIGTERM');
  assert.deepEqual(end, { code: 0, by: null });
  assert.deepEqual(
    stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
    ['starting'],
  );
});
