// Faults of the store's disk: full, or calls on the store that fail with EIO or EROFS.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { smallDisk } from '../../../support/small-disk.ts';
import { withoutStrace } from '../../files/strace.ts';
import type { Fault } from '../fault.ts';
import { dyingWithUs } from '../leftovers.ts';
import type { World } from '../world.ts';

const SIZE = '24m';
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
    begin: async (world) => {
      const tracers = new Tracers(world.folder.store, error);
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
  readonly #running: ChildProcess[] = [];

  constructor(store: string, error: string) {
    const files = ['', '-wal', '-journal'].map((kind) => join(store, `outbox.db${kind}`));
    this.#paths = files.flatMap((path) => ['-P', path]);
    this.#error = error;
  }

  /** Resolves when it is attached, or if the process is gone. */
  readonly attach = async (pid: number): Promise<void> => {
    const fault = ['-e', `trace=${FAILING}`, '-e', `inject=${FAILING}:error=${this.#error}`];
    const args = ['-f', ...fault, ...this.#paths, '-e', 'signal=none', '-o', '/dev/null', '-p', String(pid)];
    // It ends with the process that it traces, or at once if that is gone already.
    const [command = '', ...words] = [...dyingWithUs(), 'strace', ...args];
    const tracer = spawn(command, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#running.push(tracer);
    await Promise.race([once(tracer.stderr, 'data'), once(tracer, 'exit')]);
    tracer.stderr.resume();
  };

  async detach(): Promise<void> {
    for (const tracer of this.#running.splice(0)) {
      if (tracer.exitCode !== null || tracer.signalCode !== null) continue;
      const ended = once(tracer, 'exit');
      tracer.kill('SIGINT');
      await ended;
    }
  }
}

export const DISK_FAULTS: readonly Fault[] = [DISK_FULL, failing('eio', 'EIO'), failing('read-only', 'EROFS')];
