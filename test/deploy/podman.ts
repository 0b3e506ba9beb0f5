// An OCI archive → containers from it by podman and runc, hardened, on this machine's network.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { folderOf } from '../support/folder.ts';
import type { Sections } from '../support/running-bridge.ts';
import { IMAGE } from './built-image.ts';
import { command } from './command.ts';

const { name: NAME } = packageJson;
/** crun refuses the hybrid cgroups of some machines, and without systemd there is nobody to ask for a cgroup. */
const ENGINE = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs'];
/**
 * All that can be taken from it. Limits that podman would raise are set to what a container inside a container may
 * have.
 */
const HARDENED: readonly string[] = [
  ...[
    '--memory',
    '96m',
    '--memory-swap',
    '96m',
    '--read-only',
    '--cap-drop',
    'all',
    '--security-opt',
    'no-new-privileges',
  ],
  ...['--network', 'host', '--ulimit', 'nofile=20000:20000', '--ulimit', 'nproc=1000:1000'],
];

/** Images, containers and volumes of its own, not those of the machine. */
export class Podman implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'podman-'));
  readonly #env: Readonly<Record<string, string>>;
  readonly #containers: string[] = [];

  constructor() {
    const [graph, run, volumes] = ['graph', 'run', 'volumes'].map((name) => join(this.#folder, name));
    writeFileSync(
      join(this.#folder, 'storage.conf'),
      `[storage]\ndriver = "overlay"\ngraphroot = "${graph}"\nrunroot = "${run}"\n`,
    );
    writeFileSync(join(this.#folder, 'containers.conf'), `[engine]\nvolume_path = "${volumes}"\n`);
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      CONTAINERS_STORAGE_CONF: join(this.#folder, 'storage.conf'),
      CONTAINERS_CONF: join(this.#folder, 'containers.conf'),
    };
  }

  /** @throws with what it said where it fails */
  run(...args: readonly string[]): string {
    return command('podman', [...ENGINE, ...args], undefined, this.#env);
  }

  try(...args: readonly string[]): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  } {
    return spawnSync('podman', [...ENGINE, ...args], { env: this.#env, encoding: 'utf8' });
  }

  /** Runs one to its end; with what it printed. */
  once(...args: readonly string[]): string {
    return this.run('run', '--rm', ...HARDENED, ...args);
  }

  /** Starts a container in the background; it goes with this. */
  start(name: string, ...args: readonly string[]): void {
    this.#containers.push(name);
    this.run('run', '--detach', '--name', name, ...HARDENED, ...args);
  }

  /** Starts `run` with this configuration in place of that of the image, the state on a volume of that name. */
  bridge(t: TestContext, name: string, config: Sections): void {
    const file = join(folderOf(t), 'bridge.yaml');
    // The user of the image is not the one of the test.
    writeFileSync(file, JSON.stringify(config), { mode: 0o644 });
    this.start(name, '--volume', `${file}:/etc/${NAME}/bridge.yaml:ro`, '--volume', `${name}:/var/lib/${NAME}`, IMAGE);
  }

  [Symbol.dispose](): void {
    for (const name of this.#containers) this.try('rm', '--force', '--time', '0', name);
    this.try('rmi', '--all', '--force');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
