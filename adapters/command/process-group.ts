// A process group → ended by TERM, and by KILL after 5 s; reports whether a process is left.
import { codeOf } from '../../src/errors.ts';
import { type Deps, sleep } from '../../src/time/clock.ts';
import type { Processes } from './processes.ts';

/** Between TERM and KILL. */
const GRACE_MS = 5_000;
/** A killed process ends at once, unless it waits for a disk that does not answer. */
const AFTER_KILL_MS = 800;
const LOOK_EVERY_MS = 25;

/** The default if the environment has no SystemRoot. */
export const WINDOWS_FOLDER = 'C:\\Windows';

/** The system calls for groups, replaceable for tests of other platforms. */
export interface GroupSystem {
  readonly platform: NodeJS.Platform;
  readonly processes: Processes;
  /** See process.kill. */
  readonly kill: (pid: number, signal: NodeJS.Signals | 0) => void;
  /** Windows: ends a process and its child processes. Never rejects. */
  readonly taskkill: (args: readonly string[]) => Promise<void>;
}

export class ProcessGroup {
  readonly #pid: number;
  readonly #system: GroupSystem;
  readonly #deps: Pick<Deps, 'after' | 'elapsedMs'>;
  #ending: Promise<boolean> | null = null;

  /** @param pid the pid of its first process, which is also the number of the group */
  constructor(pid: number, system: GroupSystem, deps: Pick<Deps, 'after' | 'elapsedMs'>) {
    this.#pid = pid;
    this.#system = system;
    this.#deps = deps;
  }

  /** Sends TERM at once. Later calls wait for the same end. @returns whether all its processes have ended */
  end(): Promise<boolean> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<boolean> {
    this.#signal('SIGTERM');
    if (await this.#isGoneWithin(GRACE_MS)) return true;
    this.#signal('SIGKILL');
    return this.#isGoneWithin(AFTER_KILL_MS);
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { platform, kill, taskkill } = this.#system;
    if (platform === 'win32') {
      const force = signal === 'SIGKILL' ? ['/F'] : [];
      void taskkill(['/PID', String(this.#pid), '/T', ...force]);
      return;
    }
    try {
      kill(-this.#pid, signal);
    } catch {
      // The group has ended, or the bridge may not signal it; the next step finds out which.
    }
  }

  async #isGoneWithin(limitMs: number): Promise<boolean> {
    const endMs = this.#deps.elapsedMs() + limitMs;
    while (await this.#isAlive()) {
      if (this.#deps.elapsedMs() >= endMs) return false;
      await sleep(this.#deps, LOOK_EVERY_MS);
    }
    return true;
  }

  async #isAlive(): Promise<boolean> {
    const { platform, processes, kill } = this.#system;
    try {
      kill(platform === 'win32' ? this.#pid : -this.#pid, 0);
    } catch (error) {
      return codeOf(error) === 'EPERM';
    }
    if (platform !== 'linux') return true;
    // Without an init, as in some containers, ended processes stay in the group as zombies.
    const first = await processes.one(this.#pid);
    if (first !== null && !first.isZombie) return true;
    return (await processes.all()).some(({ group }) => group === this.#pid);
  }
}

/** Returns the system calls of this machine. */
export function groupSystem(platform: NodeJS.Platform, processes: Processes, windowsFolder: string): GroupSystem {
  const taskkill = async (args: readonly string[]) => {
    const { execFile } = await import('node:child_process');
    await new Promise<void>((resolve) => execFile(`${windowsFolder}\\System32\\taskkill.exe`, args, () => resolve()));
  };
  return { platform, processes, kill: (pid, signal) => void process.kill(pid, signal), taskkill };
}
