// The chart's containers with their rights → a folder of root's becomes a store (behaviour 12.21).
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { poll } from '../support/poll.ts';
import { noChartTools, only, render } from './rendered-chart.ts';

const noOtherUser =
  process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).status !== 0 ? 'only root may become another user, by setpriv' : false;
const options = { skip: noChartTools() || noOtherUser, timeout: 60_000 };
const MOUNT = '/var/lib/scheduled-events-bridge';
const MAIN = join(import.meta.dirname, '../../dist/main.js');

interface Pod {
  readonly securityContext: { readonly runAsUser: number };
  readonly initContainers: readonly [{ readonly args: readonly string[] }];
}

function podTemplate(): Pod {
  const { spec } = only(render({ default: '{}' }).default, 'DaemonSet') as unknown as {
    readonly spec: { readonly template: { readonly spec: Pod } };
  };
  return spec.template.spec;
}

/** As the kubelet makes it for `DirectoryOrCreate`: root's, 0755. */
function hostPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-host-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'state'), { mode: 0o755 });
  return join(folder, 'state');
}

/** What `own-the-store` runs, as root with CHOWN alone. */
function ownTheStore(folder: string): void {
  const args = podTemplate().initContainers[0].args.map((word) => word.replace(MOUNT, folder));
  const words = ['--bounding-set=-all,+chown', '--inh-caps=-all,+chown', '--no-new-privs', process.execPath, '--eval', ...args];
  const { status, stderr } = spawnSync('setpriv', words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** The bridge as the pod's user, without any capability, until it has its store. */
async function runInIt(folder: string): Promise<void> {
  const user = String(podTemplate().securityContext.runAsUser);
  const config = join(folder, '../bridge.yaml');
  const metadata = { endpoint: 'http://127.0.0.1:9' };
  writeFileSync(
    config,
    JSON.stringify({
      version: 1,
      metadata,
      store: { path: folder },
      http: { listen: '127.0.0.1:0' },
      sinks: { journal: { type: 'stdout' } },
    }),
  );
  const rights = ['--reuid', user, '--regid', user, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
  const bridge = spawn('setpriv', [...rights, process.execPath, MAIN, 'run', '--config', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  bridge.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(bridge, 'exit');
  try {
    await poll(
      () => said.includes('BRIDGE_METADATA') || bridge.exitCode !== null,
      () => said,
    );
    assert.equal(bridge.exitCode, null, said);
    assert.equal(statSync(join(folder, 'outbox.db')).uid, Number(user));
  } finally {
    bridge.kill('SIGKILL');
    await ended;
  }
}

test(
  'a new folder of the node becomes the store of a bridge without any rights, and stays it when the pod starts again',
  options,
  async (t) => {
    const folder = hostPath(t);
    for (const start of ['first', 'second']) {
      ownTheStore(folder);
      assert.equal(statSync(folder).mode & 0o777, 0o700, start);
      await runInIt(folder);
    }
  },
);
