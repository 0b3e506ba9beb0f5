// Pipes, devices, endless files as configuration or secret → refused at once, with the reason.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { start } from '../../support/program.ts';

/** What may stand at a path, and what is said of it. */
const UNFIT: Readonly<Record<string, readonly [put: (path: string) => void, says: string]>> = {
  'a pipe that nobody writes to': [(path) => execFileSync('mkfifo', [path]), 'it is a pipe, not a regular file'],
  'a device without end': [(path) => symlinkSync('/dev/zero', path), 'it is a device, not a regular file'],
  'a folder': [(path) => mkdirSync(path), 'it is a folder, not a regular file'],
  '50 MB': [
    (path) => {
      writeFileSync(path, '');
      truncateSync(path, 50_000_000);
    },
    'it is longer than 1 MiB',
  ],
};

/** Far more than a refusal takes, far less than for ever. */
const PATIENCE_MS = 30_000;

async function refused(t: TestContext, args: readonly string[]): Promise<string> {
  const program = start(t, args);
  const patience = setTimeout(() => program.child.kill('SIGKILL'), PATIENCE_MS);
  const { code, signal, stderr } = await program.ended();
  clearTimeout(patience);
  assert.deepEqual({ code, signal }, { code: 78, signal: null }, stderr);
  return stderr;
}

for (const [what, [put, says]] of Object.entries(UNFIT)) {
  for (const verb of ['check', 'run']) {
    test(`${verb} refuses ${what} as configuration at once`, async (t) => {
      const config = join(folderOf(t), 'bridge.yaml');
      put(config);
      assert.ok(
        (await refused(t, [verb, '--config', config])).includes(`the configuration ${config} cannot be read: ${says}`),
      );
    });

    test(`${verb} refuses ${what} as a secret and as a certificate at once`, async (t) => {
      const folder = folderOf(t);
      const [config, file] = [join(folder, 'bridge.yaml'), join(folder, 'unfit')];
      put(file);
      const http = { readers: { graphs: { token: { file } } }, tls: { cert: file, key: file } };
      writeFileSync(config, JSON.stringify({ version: 1, store: { path: join(folder, 'store') }, http }));
      const stderr = await refused(t, [verb, '--config', config]);
      for (const path of ['http.readers.graphs.token', 'http.tls.cert', 'http.tls.key'])
        assert.ok(stderr.includes(`${path}: the file ${file} cannot be read: ${says}`), stderr);
    });
  }
}
