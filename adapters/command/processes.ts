// /proc → the running processes, with their groups, start times and marks.
import { readdir, readFile } from 'node:fs/promises';

export interface ProcessSeen {
  readonly pid: number;
  /** The number of its process group: the pid of the group's first process. */
  readonly group: number;
  /** In clock ticks since the boot of the machine. */
  readonly startedAt: string;
  /** It has ended, but its parent has not collected it yet. */
  readonly isZombie: boolean;
}

/** Reads /proc of Linux. Other platforms have no such folder, so the methods return nothing. */
export class Processes {
  readonly #root: string;
  #bootId: Promise<string | null> | null = null;

  constructor(root = '/proc') {
    this.#root = root;
  }

  /** Returns an id that changes at each boot of the machine, or null if it cannot be read. */
  bootId(): Promise<string | null> {
    this.#bootId ??= this.#text('sys/kernel/random/boot_id').then((text) => text?.trim() ?? null);
    return this.#bootId;
  }

  async one(pid: number): Promise<ProcessSeen | null> {
    const stat = await this.#text(`${pid}/stat`);
    // The name of the program is in brackets and may contain any character.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, , group, startedAt] = [fields?.[0], fields?.[1], fields?.[2], fields?.[19]];
    if (state === undefined || group === undefined || startedAt === undefined) return null;
    return { pid, group: Number(group), startedAt, isZombie: state === 'Z' || state === 'X' };
  }

  /** Returns the members of a group, without zombies. */
  async all(): Promise<readonly ProcessSeen[]> {
    const names = await readdir(this.#root).catch(() => []);
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const seen = await Promise.all(pids.map((pid) => this.one(pid)));
    return seen.filter((each) => each !== null && !each.isZombie) as ProcessSeen[];
  }

  /**
   * Returns whether it was started with this variable. False also for a process of another user, whose environment
   * cannot be read.
   */
  async hasVariable(pid: number, variable: string): Promise<boolean> {
    const text = await this.#text(`${pid}/environ`);
    return text?.split('\0').includes(variable) ?? false;
  }

  #text(path: string): Promise<string | null> {
    return readFile(`${this.#root}/${path}`, 'latin1').catch(() => null);
  }
}
