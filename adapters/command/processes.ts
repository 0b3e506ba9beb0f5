// /proc → which processes there are, in which group, since when, and with which mark.
import { readdir, readFile } from 'node:fs/promises';

export interface ProcessSeen {
  readonly pid: number;
  /** The number of its process group: the pid of the group's first process. */
  readonly group: number;
  /** Clock ticks from the start of the machine. */
  readonly startedAt: string;
  /** It has ended, and nobody has asked how yet. */
  readonly isZombie: boolean;
}

/** Of Linux. Elsewhere there is no such folder, and nothing is known of other processes. */
export class Processes {
  readonly #root: string;
  #bootId: Promise<string | null> | null = null;

  constructor(root = '/proc') {
    this.#root = root;
  }

  /** Another one after each start of the machine; null where it cannot be told. */
  bootId(): Promise<string | null> {
    this.#bootId ??= this.#text('sys/kernel/random/boot_id').then((text) => text?.trim() ?? null);
    return this.#bootId;
  }

  /** Null where there is none. */
  async one(pid: number): Promise<ProcessSeen | null> {
    const stat = await this.#text(`${pid}/stat`);
    // The name of the program stands in brackets and may hold anything.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, , group, startedAt] = [fields?.[0], fields?.[1], fields?.[2], fields?.[19]];
    if (state === undefined || group === undefined || startedAt === undefined) return null;
    return { pid, group: Number(group), startedAt, isZombie: state === 'Z' || state === 'X' };
  }

  /** Without those that have ended. */
  async all(): Promise<readonly ProcessSeen[]> {
    const names = await readdir(this.#root).catch(() => []);
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const seen = await Promise.all(pids.map((pid) => this.one(pid)));
    return seen.filter((each) => each !== null && !each.isZombie) as ProcessSeen[];
  }

  /** Whether it was started with this variable; false too of a process of another user that we may not look at. */
  async hasVariable(pid: number, variable: string): Promise<boolean> {
    const text = await this.#text(`${pid}/environ`);
    return text?.split('\0').includes(variable) ?? false;
  }

  #text(path: string): Promise<string | null> {
    return readFile(`${this.#root}/${path}`, 'latin1').catch(() => null);
  }
}
