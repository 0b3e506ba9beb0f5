// A Debian with its own systemd, booted in a container → commands in it, reboots, power cuts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { poll } from '../support/poll.ts';
import { skipWithout } from '../support/systemd.ts';
import { command } from './command.ts';
import { StateDisk } from './state-disk.ts';

/** Debian's name of the release: DEBIAN=trixie boots Debian 13. */
const RELEASE = process.env['DEBIAN'] ?? 'bookworm';
const PACKAGES = 'systemd,systemd-sysv,dbus,curl,iproute2,ca-certificates,libstdc++6,polkitd';
/** Made once for each list of packages, copied for each machine. */
const BASE = join(import.meta.dirname, `../../node_modules/.cache/${RELEASE}-${PACKAGES.replaceAll(',', '-')}`);

/** Why no machine is booted, for a test's `skip`. @throws instead with REQUIRE_SYSTEMD where a part is missing */
export const noMachine: string | false = process.env['REQUIRE_SYSTEMD']
  ? skipWithout('mmdebstrap', 'systemd-nspawn', 'nsenter')
  : 'a system is booted where REQUIRE_SYSTEMD is set';

export class BootedMachine implements AsyncDisposable {
  /** Its root folder, seen from outside. */
  readonly root: string;
  readonly #disk: StateDisk;
  #container: ChildProcess | null = null;
  #leader = '';

  private constructor(root: string) {
    this.root = root;
    this.#disk = new StateDisk(join(root, '../disk'), join(root, 'var/lib/private'));
  }

  /** A new machine; its network is its own, with the metadata service's address on lo. */
  static async boot(): Promise<BootedMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'machine-'));
    const machine = new BootedMachine(join(folder, 'root'));
    makeBase();
    command('cp', ['-a', BASE, machine.root]);
    machine.#disk.make();
    await machine.start();
    return machine;
  }

  async start(): Promise<void> {
    this.#disk.mount();
    const log = openSync(join(this.root, '../console'), 'a');
    const args = [
      '--quiet',
      `--directory=${this.root}`,
      '--register=no',
      '--keep-unit',
      '--private-network',
      '--boot',
      '--console=pipe',
    ];
    const container = spawn('systemd-nspawn', args, { stdio: ['ignore', log, log] });
    this.#container = container;
    await poll(
      () => {
        this.#leader = childOf(container.pid);
        return this.#leader !== '' && this.try('systemctl', 'is-system-running').stdout.trim() === 'running';
      },
      () => `a booted system: ${readFileSync(join(this.root, '../console'), 'utf8')}`,
      60_000,
    );
  }

  /** As `systemctl reboot`: everything is stopped in its order, then all starts anew. */
  async reboot(): Promise<void> {
    this.try('systemctl', 'reboot');
    await this.#gone();
    await this.start();
  }

  /** The disk takes nothing more, under the running system, and loses what was not flushed; then every process ends. */
  async cutPower(): Promise<void> {
    if (this.#container === null) return;
    this.#disk.cutPower();
    if (this.#leader !== '') process.kill(Number(this.#leader), 'SIGKILL');
    await this.#gone();
    this.#disk.unmount();
    await poll(() => this.#disk.isFree, 'a disk that nobody holds any more', 60_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cutPower();
    this.#disk.unmount();
    rmSync(join(this.root, '..'), { recursive: true, force: true });
  }

  /** Runs a command to its end, and gives what it printed. @throws where it fails */
  run(...line: readonly string[]): string {
    return command('nsenter', [...this.#inside(), ...line]);
  }

  try(...line: readonly string[]): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  } {
    return spawnSync('nsenter', [...this.#inside(), ...line], { encoding: 'utf8' });
  }

  /** A file of this machine, as a text. */
  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text);
  }

  /** A file from outside, into /root; with the path inside. */
  take(file: string): string {
    const inside = join('/root', basename(file));
    copyFileSync(file, join(this.root, inside));
    return inside;
  }

  /** One property of the service, as `systemctl show` has it. */
  property(name: string): string {
    return this.run('systemctl', 'show', '--value', '--property', name, 'scheduled-events-bridge').trim();
  }

  #inside(): readonly string[] {
    return ['--target', this.#leader, '--all', '--'];
  }

  async #gone(): Promise<void> {
    await poll(
      () => this.#container === null || this.#container.exitCode !== null || this.#container.signalCode !== null,
      'the end of the system',
      60_000,
    );
    this.#container = null;
    this.#leader = '';
  }
}

function makeBase(): void {
  if (existsSync(BASE)) return;
  mkdirSync(join(BASE, '..'), { recursive: true });
  const unfinished = `${BASE}.${process.pid}`;
  command('mmdebstrap', ['--quiet', '--variant=minbase', `--include=${PACKAGES}`, RELEASE, unfinished]);
  writeFileSync(join(unfinished, 'etc/systemd/system/metadata-address.service'), ADDRESS_UNIT);
  command('systemctl', ['--quiet', `--root=${unfinished}`, 'enable', 'metadata-address.service']);
  renameSync(unfinished, BASE);
}

const ADDRESS_UNIT = `[Unit]
DefaultDependencies=no
Before=network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/ip link set lo up
ExecStart=/usr/sbin/ip address replace 169.254.169.254/32 dev lo
[Install]
WantedBy=sysinit.target
`;

/** The first process inside: the one child of systemd-nspawn. */
function childOf(pid: number | undefined): string {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0] ?? '';
}
