// A Debian with Wine 10, in namespaces of its own → commands of Windows in it, and its drive C.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '../support/poll.ts';
import { command } from './command.ts';

const RELEASE = 'trixie';
/** Made once; each machine puts what it changes over it. */
const BASE = join(import.meta.dirname, '../../node_modules/.cache/wine');
const PREFIX = '/root/.wine';
const ENV = ['HOME=/root', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', `WINEPREFIX=${PREFIX}`];

/** Why there is no Windows, for a test's `skip`. @throws instead with REQUIRE_WINE where a part is missing */
export const noWine: string | false = process.env['REQUIRE_WINE']
  ? wineParts()
  : 'Wine is run where REQUIRE_WINE is set';

function wineParts(): false {
  const missing = ['mmdebstrap', 'unshare', 'nsenter', 'unzip', 'curl', 'go'].filter(
    (name) => spawnSync('which', [name]).status !== 0,
  );
  if (missing.length > 0) throw new Error(`REQUIRE_WINE is set, and there is no ${missing.join(', ')}`);
  return false;
}

export class WineMachine implements Disposable {
  readonly #folder: string;
  readonly #container: ChildProcess;
  readonly #leader: string;
  /** The channel of Wine's debug output, which goes to a file. */
  readonly #channel: string;
  readonly #beside: ChildProcess[] = [];

  private constructor(folder: string, container: ChildProcess, leader: string, channel: string) {
    this.#folder = folder;
    this.#container = container;
    this.#leader = leader;
    this.#channel = channel;
  }

  /**
   * Its network is its own, with the metadata service's address on lo.
   * @param channel of Wine's debug output, for `trace`
   */
  static async start(channel = '-all'): Promise<WineMachine> {
    await makeBase();
    const folder = mkdtempSync(join(tmpdir(), 'wine-'));
    for (const name of ['upper', 'work', 'root']) mkdirSync(join(folder, name));
    const layers = `lowerdir=${BASE},upperdir=${folder}/upper,workdir=${folder}/work`;
    const machine = await WineMachine.#enter(
      folder,
      `mount -t overlay overlay -o ${layers} ${folder}/root`,
      `${folder}/root`,
      channel,
    );
    // Wine ends every service once no program but services runs.
    machine.#beside.push(
      spawn('nsenter', [...machine.#inside(), 'wine', 'cmd'], { stdio: ['pipe', 'ignore', machine.#traceFile()] }),
    );
    // Services inherit the standard error of the first program.
    await poll(() => machine.processes('services.exe').length > 0, 'the services', 60_000);
    return machine;
  }

  /** The base itself, for what all machines share. */
  static async #enter(folder: string, mount: string, root: string, channel = '-all'): Promise<WineMachine> {
    const script = `set -e; mount --make-rprivate /; ${mount}
      mount -t proc proc ${root}/proc; mount --rbind /dev ${root}/dev
      ip link set lo up; ip address add 169.254.169.254/32 dev lo
      exec chroot ${root} /bin/sleep infinity`;
    const args = ['--mount', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c', script];
    const log = openSync(join(folder, 'console'), 'a');
    const container = spawn('unshare', args, { stdio: ['ignore', log, log] });
    const leader = () => readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').trim();
    const isIn = () => leader() !== '' && readFileSync(`/proc/${leader()}/comm`, 'utf8') === 'sleep\n';
    await poll(isIn, () => readFileSync(join(folder, 'console'), 'utf8'), 20_000);
    return new WineMachine(folder, container, leader(), channel);
  }

  static async prepare(base: string): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'wine-'));
    using machine = await WineMachine.#enter(folder, 'true', base);
    machine.run('wineboot', '-i');
    command('nsenter', [...machine.#inside(), 'wineserver', '-w']);
  }

  /** A path of drive C, seen from outside: `ProgramData/x`. */
  path(inside: string): string {
    return join(`/proc/${this.#leader}/root`, PREFIX, 'drive_c', inside);
  }

  read(inside: string): string {
    return existsSync(this.path(inside)) ? readFileSync(this.path(inside), 'utf8') : '';
  }

  write(inside: string, text: string): void {
    writeFileSync(this.path(inside), text);
  }

  append(inside: string, text: string): void {
    appendFileSync(this.path(inside), text);
  }

  /**
   * A command of Windows to its end; with what it said. Through a file: a service that it starts would keep a pipe
   * open.
   * @throws where it fails
   */
  run(...line: readonly string[]): string {
    const { status, said } = this.try(...line);
    if (status !== 0) throw new Error(`${line.join(' ')} (exit code ${status}): ${said}`);
    return said;
  }

  try(...line: readonly string[]): { readonly status: number | null; readonly said: string } {
    const file = join(this.#folder, 'said');
    const into = openSync(file, 'w');
    const { status } = spawnSync('nsenter', [...this.#inside(), 'wine', ...line], {
      stdio: ['ignore', into, into],
      timeout: 60_000,
    });
    return { status, said: readFileSync(file, 'utf8').replace(/^error: XDG_RUNTIME_DIR.*\n/gm, '') };
  }

  /** A program of this machine, not of Windows, in the same network. It ends with this. */
  beside(name: string, ...args: readonly string[]): ChildProcess {
    const child = spawn('nsenter', ['--target', this.#leader, '--net', '--', name, ...args], { stdio: 'ignore' });
    this.#beside.push(child);
    return child;
  }

  curl(...args: readonly string[]): string {
    return command('nsenter', ['--target', this.#leader, '--net', '--', 'curl', '--silent', '--fail', ...args]);
  }

  /** The debug output of all services, and of what they started. */
  trace(): string {
    return readFileSync(join(this.#folder, 'trace'), 'utf8');
  }

  #traceFile(): number {
    return openSync(join(this.#folder, 'trace'), 'a');
  }

  /** Ends every process of Windows whose command line holds this, as a crash does. */
  kill(what: string): void {
    command('nsenter', ['--target', this.#leader, '--pid', '--', 'kill', '-KILL', ...this.processes(what)]);
  }

  /** Processes of Windows that have this in their command line. */
  processes(what: string): readonly string[] {
    const folder = `/proc/${this.#leader}/root/proc`;
    return readdirSync(folder).filter((name) => /^\d+$/.test(name) && commandLine(join(folder, name)).includes(what));
  }

  [Symbol.dispose](): void {
    for (const child of this.#beside) child.kill('SIGKILL');
    this.#container.kill('SIGKILL');
    spawnSync('sleep', ['0.5']);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #inside(): readonly string[] {
    return [
      '--target',
      this.#leader,
      '--mount',
      '--net',
      '--pid',
      '--root',
      '--wd',
      '--',
      'env',
      '-i',
      ...ENV,
      `WINEDEBUG=${this.#channel}`,
    ];
  }
}

async function makeBase(): Promise<void> {
  if (existsSync(BASE)) return;
  mkdirSync(join(BASE, '..'), { recursive: true });
  const unfinished = `${BASE}.${process.pid}`;
  command('mmdebstrap', ['--quiet', '--variant=minbase', '--include=wine64,wine', RELEASE, unfinished]);
  writeFileSync(join(unfinished, 'etc/hosts'), '127.0.0.1 localhost\n');
  await WineMachine.prepare(unfinished);
  renameSync(unfinished, BASE);
}

/** Empty where the process is gone. */
function commandLine(folder: string): string {
  try {
    return readFileSync(join(folder, 'cmdline'), 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
