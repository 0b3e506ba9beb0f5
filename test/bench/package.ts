// Each form in which it is installed → size, start, memory, CPU, beside `node dist/main.js`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { USER } from '../../deploy/container/base-system.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { builtPackages } from '../deploy/built-packages.ts';
import { command } from '../deploy/command.ts';
import { Podman } from '../deploy/podman.ts';
import { onPath } from '../far-sides/maven-jars.ts';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { BridgeBetween } from './bridge-between.ts';
import { cpuMs, median, memoryMb, type Row } from './figures.ts';

const { name: NAME, version } = packageJson;
const STARTS = 7;
/** As in the other measurement of idle bridges. */
const CHANGES = 10;
const IDLE_MS = Number(process.env['BENCH_SECONDS'] ?? 60) * 1000;

/** A process of `run`, and how to end it. */
interface Running {
  readonly pid: number;
  readonly end: () => Promise<void>;
}

interface Form {
  readonly name: string;
  /** Of what is handed out, and unpacked. */
  readonly bytes: readonly [packed: number, unpacked: number];
  readonly run: (config: string, store: string) => Promise<Running>;
}

export async function packageForms(): Promise<readonly Row[]> {
  const packages = builtPackages();
  using podman = onPath('podman') && onPath('runc') ? new Podman() : null;
  const forms = [
    fromDist(),
    fromArchive(packages),
    fromTarball(packages),
    ...(podman ? [fromImage(packages, podman)] : []),
  ];
  const starts: Row[] = [];
  for (const form of forms) starts.push(await measureStart(form));
  return [...forms.map(sizeOf), ...starts, ...(await Promise.all(forms.map(measureIdle))).flat()];
}

function fromDist(): Form {
  const dist = join(import.meta.dirname, '../../dist');
  const size = sizeIn(dist);
  return {
    name: 'node dist/main.js',
    bytes: [size, size],
    run: (config) => spawned(process.execPath, [join(dist, 'main.js'), 'run', '--config', config]),
  };
}

function fromArchive(packages: string): Form {
  const name = `${NAME}-${version}-linux-x64`;
  const folder = unpack(packages, `${name}.tar.gz`);
  const launcher = join(folder, name, 'bin', NAME);
  return {
    name: '.tar.gz, .deb and .rpm',
    bytes: [sizeOfFile(packages, `${name}.tar.gz`), sizeIn(folder)],
    run: (config) => spawned(launcher, ['run', '--config', config]),
  };
}

function fromTarball(packages: string): Form {
  const folder = unpack(packages, `${NAME}-${version}.tgz`);
  const main = join(folder, 'package/dist/main.js');
  return {
    name: "npm's tarball on Node",
    bytes: [sizeOfFile(packages, `${NAME}-${version}.tgz`), sizeIn(folder)],
    run: (config) => spawned(process.execPath, [main, 'run', '--config', config]),
  };
}

function fromImage(packages: string, podman: Podman): Form {
  const file = `${NAME}-${version}-oci.tar`;
  podman.run('load', '--quiet', '--input', join(packages, file));
  const unpacked = Number(podman.run('image', 'inspect', '--format', '{{.Size}}', `${NAME}:${version}`));
  let made = 0;
  const run = async (config: string, store: string): Promise<Running> => {
    const container = `bench-${++made}`;
    command('chown', ['-R', `${USER}:${USER}`, store]);
    const volumes = ['--volume', `${config}:/etc/${NAME}/bridge.yaml:ro`, '--volume', `${store}:${store}`];
    podman.start(container, ...volumes, `${NAME}:${version}`);
    const end = async () => void podman.run('stop', container);
    return { pid: Number(podman.run('inspect', '--format', '{{.State.Pid}}', container)), end };
  };
  return { name: 'container (podman, runc)', bytes: [sizeOfFile(packages, file), unpacked], run };
}

function sizeOf({ name, bytes: [packed, unpacked] }: Form): Row {
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  return {
    what: `${name}: size`,
    figure: `${mb(packed)}, unpacked ${mb(unpacked)}`,
    goal: name.startsWith('container') ? '≤ 160 MB' : '',
  };
}

async function measureStart(form: Form): Promise<Row> {
  await using surroundings = await BridgeBetween.start();
  const [config, store] = configured(surroundings);
  const samples: { ms: number; cpu: number }[] = [];
  // The first makes the store.
  for (let round = 0; round <= STARTS; round++) {
    const answered = surroundings.metadata.answered();
    const spawnedMs = performance.now();
    const running = form.run(config, store);
    const ms = (await answered) - spawnedMs;
    const { pid, end } = await running;
    samples.push({ ms, cpu: cpuMs(pid) });
    await pause(200);
    await end();
  }
  const later = samples.slice(1).sort((one, other) => one.ms - other.ms);
  const all = later.map(({ ms }) => ms.toFixed(0)).join(', ');
  const figure = `${median(later.map(({ ms }) => ms)).toFixed(0)} ms (${all}); ${median(later.map(({ cpu }) => cpu)).toFixed(0)} ms of a processor`;
  return { what: `${form.name}: start → first poll, median of ${STARTS}`, figure, goal: '≤ 300 ms' };
}

async function measureIdle(form: Form): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  const [config, store] = configured(surroundings);
  const polled = surroundings.metadata.answered();
  const { pid, end } = await form.run(config, store);
  await polled;
  for (let change = 1; change <= CHANGES; change++)
    await surroundings.metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
  const before = { cpu: cpuMs(pid), polls: surroundings.metadata.polls };
  await pause(IDLE_MS);
  const cpu = (cpuMs(pid) - before.cpu) / (surroundings.metadata.polls - before.polls);
  const { rss, anonymous } = memoryMb(pid);
  await end();
  const what = `${form.name}: one webhook, after ${IDLE_MS / 1000} s`;
  const memory = `${rss.toFixed(1)} MB, of it ${anonymous.toFixed(1)} anonymous, ${(rss - anonymous).toFixed(1)} of files`;
  return [
    { what: `${what}: RSS`, figure: memory, goal: '≤ 60 MB' },
    { what: `${what}: CPU a poll`, figure: `${cpu.toFixed(2)} ms`, goal: 'as dist/' },
  ];
}

/** Paths of a configuration and of its store, which others than this process's user may reach. */
function configured(surroundings: BridgeBetween): readonly [config: string, store: string] {
  const config = surroundings.configure('1s');
  chmodSync(surroundings.folder, 0o755);
  mkdirSync(surroundings.store, { mode: 0o700 });
  return [config, surroundings.store];
}

async function spawned(file: string, args: readonly string[]): Promise<Running> {
  const child = spawn(file, args, { stdio: 'ignore', env: { PATH: process.env['PATH'] ?? '' } });
  await once(child, 'spawn');
  const ended = once(child, 'close');
  const end = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { pid: child.pid ?? 0, end };
}

function unpack(packages: string, name: string): string {
  const folder = join(packages, `${name}.unpacked`);
  mkdirSync(folder);
  command('tar', ['-xzf', join(packages, name), '-C', folder]);
  return folder;
}

function sizeOfFile(folder: string, name: string): number {
  return statSync(join(folder, name)).size;
}

/** Of all files of a folder. */
function sizeIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
