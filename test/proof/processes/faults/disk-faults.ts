// Faults of the store's disk: full, or calls on the store that fail with EIO or EROFS.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { smallDisk } from '../../../support/small-disk.ts';
import { withoutStrace } from '../../files/strace.ts';
import type { Fault } from '../fault.ts';
import { dyingWithUs } from '../leftovers.ts';
import type { World } from '../world.ts';

const SIZE = '24m';
/** How long strace may take to leave its process. */
const DETACH_MS = 5000;
const FAILING = 'openat,pwrite64,fsync,fdatasync,ftruncate';

const withoutRoot = () => process.getuid?.() !== 0 && 'only root can mount a small disk';

function onSmallDisk(world: World): void {
  if (world.disk !== null) return;
  const disk = smallDisk(world.t, SIZE, world.root);
  if ('reason' in disk) throw new Error(disk.reason);
  world.moveTo(disk);
}

const DISK_FULL: Fault = {
  name: 'disk-full',
  kind: 'disk',
  mayEnd: true,
  losesReceipts: true,
  missing: withoutRoot,
  prepare: onSmallDisk,
  begin: ({ disk }) => disk?.fill(),
  hasBitten: ({ bridge: { wholeLog } }) => /the disk of the store \S+ is full|ENOSPC/.test(wholeLog),
  end: ({ disk }) => disk?.free(),
};

/** Calls on the store fail in the processes that run between begin and end. */
function failing(name: string, error: 'EIO' | 'EROFS'): Fault {
  const running = new WeakMap<World, Tracers>();
  return {
    name,
    kind: 'disk',
    mayEnd: true,
    losesReceipts: true,
    missing: () => withoutStrace() ?? false,
    hasBitten: async (world) => {
      const tracers = running.get(world);
      // Another tracer may have been attached, or the process was killed.
      if (world.bridge.pid !== null) await tracers?.attach(world.bridge.pid);
      return tracers?.hasFailed === true;
    },
    begin: async (world) => {
      const tracers = new Tracers(world, error);
      running.set(world, tracers);
      world.bridge.starts.add(tracers.attach);
      if (world.bridge.pid !== null) await tracers.attach(world.bridge.pid);
    },
    end: async (world) => {
      const tracers = running.get(world);
      if (tracers === undefined) return;
      world.bridge.starts.delete(tracers.attach);
      await tracers.detach();
    },
  };
}

class Tracers {
  readonly #paths: readonly string[];
  readonly #error: string;
  readonly #report: string;
  readonly #running = new Map<number, ChildProcess>();

  constructor({ folder: { store }, root }: World, error: string) {
    this.#report = join(root, `${error}.strace`);
    const files = ['', '-wal', '-journal'].map((kind) => join(store, `outbox.db${kind}`));
    this.#paths = files.flatMap((path) => ['-P', path]);
    this.#error = error;
  }

  /** A call was made to fail. */
  get hasFailed(): boolean {
    return existsSync(this.#report) && readFileSync(this.#report, 'utf8').includes('(INJECTED)');
  }

  /** Resolves when it is attached, or if the process is gone or has another tracer. */
  readonly attach = async (pid: number): Promise<void> => {
    const before = this.#running.get(pid);
    if (before !== undefined && isRunning(before)) return;
    const fault = ['-e', `trace=${FAILING}`, '-e', `inject=${FAILING}:error=${this.#error}`];
    const args = ['-f', '-A', ...fault, ...this.#paths, '-e', 'signal=none', '-o', this.#report, '-p', String(pid)];
    // It ends with the process that it traces, or at once if that is gone already.
    const [command = '', ...words] = [...dyingWithUs(), 'strace', ...args];
    const tracer = spawn(command, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#running.set(pid, tracer);
    await Promise.race([once(tracer.stderr, 'data'), once(tracer, 'exit')]);
    tracer.stderr.resume();
  };

  async detach(): Promise<void> {
    for (const tracer of this.#running.values()) {
      if (!isRunning(tracer)) continue;
      const ended = once(tracer, 'exit');
      tracer.kill('SIGINT');
      // If the process ends while it is attached to, strace can wait for ever.
      const limit = setTimeout(() => tracer.kill('SIGKILL'), DETACH_MS);
      await ended;
      clearTimeout(limit);
    }
    this.#running.clear();
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

export const DISK_FAULTS: readonly Fault[] = [DISK_FULL, failing('eio', 'EIO'), failing('read-only', 'EROFS')];
