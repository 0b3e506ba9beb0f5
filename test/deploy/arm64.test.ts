// The image for arm64, run by qemu → a version, a demo, one maintenance over a kill (behaviour 12).
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { localSimulator } from '../far-sides/simulator-server.ts';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { BUILD_VERSION } from '../support/build-version.ts';
import { poll } from '../support/poll.ts';
import { Program } from '../support/program.ts';
import { hook, received } from '../support/running-bridge.ts';
import { builtImage } from './built-image.ts';
import { command } from './command.ts';
import { readOciArchive } from './oci-archive.ts';

const { name: NAME } = packageJson;
const HOME = `/usr/lib/${NAME}`;
/** The kernel starts programs of other processors by what is registered here. */
const BINFMT = '/proc/sys/fs/binfmt_misc';
const QEMU = '/usr/lib/binfmt.d/qemu-aarch64.conf';

/** It takes root, qemu-user-static, binutils for arm64, and the image. */
const skip = process.env['REQUIRE_ARM'] ? false : 'arm64 runs by qemu where REQUIRE_ARM is set';
const options = { skip, timeout: 300_000 };
const folder = mkdtempSync(join(tmpdir(), 'arm64-'));

let root = '';
let isRegistered = false;
before(async () => {
  if (skip) return;
  const archive = readOciArchive(await builtImage(new Date('2026-11-22T00:00:00Z')), folder, 'arm64');
  assert.equal(archive.architecture, 'arm64');
  root = join(folder, 'root');
  if (!existsSync(join(BINFMT, 'register'))) command('mount', ['-t', 'binfmt_misc', 'binfmt_misc', BINFMT]);
  if (!existsSync(join(BINFMT, 'qemu-aarch64'))) {
    writeFileSync(join(BINFMT, 'register'), readFileSync(QEMU, 'utf8').trim());
    isRegistered = true;
  }
  for (const device of ['null', 'urandom']) {
    mkdirSync(join(root, 'dev'), { recursive: true });
    command('cp', ['-a', `/dev/${device}`, join(root, 'dev', device)]);
  }
});
after(() => {
  rmSync(folder, { recursive: true });
  if (isRegistered) writeFileSync(join(BINFMT, 'qemu-aarch64'), '-1');
});

/** A process of the image's command, in its root. */
function program(...args: readonly string[]): Program {
  return new Program(args, { launcher: ['chroot', root], node: `${HOME}/bin/node`, main: `${HOME}/dist/main.js` });
}

test('the binary is of arm64, and says its version', options, async () => {
  // e_machine of the ELF header: EM_AARCH64.
  assert.equal(readFileSync(join(root, HOME, 'bin/node')).readUInt16LE(18), 183);
  assert.deepEqual(await program('--version').ended(), {
    ...{ code: 0, signal: null, stdout: `${BUILD_VERSION}\n`, stderr: '' },
  });
});

test('its own configuration is valid', options, async () => {
  const { code, stdout } = await program('check', '--config', `/etc/${NAME}/bridge.yaml`).ended();
  assert.deepEqual([code, /is valid/.test(stdout)], [0, true], stdout);
});

test('the demo plays a maintenance to its end', options, async () => {
  const { code, stdout, stderr } = await program('demo').ended();
  assert.equal(code, 0, stderr);
  assert.match(stdout, /ended .*completed/);
});

test('a maintenance reaches a webhook whole and in order, over a kill -9 in its middle', options, async (t) => {
  const azure = await localSimulator(t);
  await using receiver = await WebhookReceiver.start();
  const config = `/var/lib/${NAME}/bridge.json`;
  const whole = {
    version: 1,
    metadata: { endpoint: azure.url },
    store: { path: `/var/lib/${NAME}/store` },
    http: { listen: '127.0.0.1:0' },
    sinks: { hooks: hook(receiver.url) },
  };
  writeFileSync(join(root, config), JSON.stringify(whole));
  const first = program('run', '--config', config);
  await first.logs('"watching"');
  const eventId = azure.schedule().EventId;
  const ids = () => [...received(receiver.requests).keys()];
  await poll(() => ids().length === 1, 'scheduled');
  await first.end('SIGKILL');
  azure.start(eventId);
  const second = program('run', '--config', config);
  await second.logs('"watching"');
  await poll(() => ids().length === 2, 'started');
  azure.end(eventId);
  await poll(() => ids().length === 3, 'ended');
  const key = eventId.toLowerCase();
  assert.deepEqual(ids(), [`${key}:scheduled`, `${key}:started`, `${key}:ended`]);
  assert.equal((await second.end('SIGTERM')).code, 0);
});
