// The open runs of a key → their process groups ended before the next run, never other programs.
import type { LeftBehindDeps } from '../adapter.ts';
import { type GroupSystem, ProcessGroup } from './process-group.ts';
import type { ProcessSeen } from './processes.ts';
import { MARK, type OpenRun, type RunNotes } from './run-notes.ts';

/** Ends runs that a killed bridge left behind, or that could not be ended before. */
export class FormerRuns {
  readonly #notes: RunNotes;
  readonly #system: GroupSystem;
  readonly #deps: LeftBehindDeps;
  /** By delivery, so that the start of the adapter and a delivery share one attempt. */
  readonly #ending = new Map<number, Promise<number | null>>();

  constructor(notes: RunNotes, system: GroupSystem, deps: LeftBehindDeps) {
    this.#notes = notes;
    this.#system = system;
    this.#deps = deps;
  }

  /** Ends the open runs of all keys concurrently, whether or not their deliveries come again. Never rejects. */
  async endAll(): Promise<void> {
    try {
      await Promise.all(this.#notes.ofOtherProcesses().map((run) => this.#endOnce(run)));
    } catch (error) {
      this.#deps.logger.debug(
        { err: error },
        'runs of an earlier process cannot be ended now: the bridge tries again before the next run of their event',
      );
    }
  }

  /**
   * Ends the open runs of one key, with 5 s between TERM and KILL.
   * @returns the number of a process group that could not be ended, or null
   * @throws BridgeError BRIDGE_STORE_*
   */
  async end(key: string): Promise<number | null> {
    for (const run of this.#notes.ofKey(key)) {
      const left = await this.#endOnce(run);
      if (left !== null) return left;
    }
    return null;
  }

  #endOnce(run: OpenRun): Promise<number | null> {
    const { seq } = run;
    const ending = this.#ending.get(seq) ?? this.#endAndNote(run).finally(() => this.#ending.delete(seq));
    this.#ending.set(seq, ending);
    return ending;
  }

  async #endAndNote(run: OpenRun): Promise<number | null> {
    const left = await this.#endOne(run);
    if (left === null) this.#notes.over(run.seq);
    return left;
  }

  async #endOne(run: OpenRun): Promise<number | null> {
    const { logger } = this.#deps;
    const { pid } = run;
    if (this.#system.platform !== 'linux') {
      const fields = { pid };
      logger.warn(
        fields,
        'a run of an earlier process may still be active, which this platform cannot show: check if its program runs twice',
      );
      return null;
    }
    const group = await findOutlived(run, this.#system);
    if (group === null) return null;
    logger.warn(
      { pid: group },
      'a run has outlived the process that started it: the bridge ends it before the next run of its event',
    );
    return (await new ProcessGroup(group, this.#system, this.#deps).end()) ? null : group;
  }
}

/**
 * Returns the number of the run's process group, or null if none of its processes runs. It finds the first process by
 * pid and start time. If that process has ended, it finds the others by the mark in their environment. A process that
 * has reused the pid is not found.
 */
export async function findOutlived(
  { mark, boot, pid, startedAt }: OpenRun,
  { processes }: Pick<GroupSystem, 'processes'>,
): Promise<number | null> {
  if ((await processes.bootId()) !== boot) return null;
  if (pid === null) return groupOfMark(mark, await processes.all(), processes);
  const first = await processes.one(pid);
  // Start times count from the boot of the machine. If the boot is unknown, as under ProcSubset=pid, only the mark
  // identifies a process.
  if (boot !== null && first !== null && first.startedAt === startedAt && first.group === pid && !first.isZombie)
    return pid;
  const members = (await processes.all()).filter(({ group }) => group === pid);
  return groupOfMark(mark, members, processes);
}

/** Returns the group of the oldest process, because its child processes may have created other groups. */
async function groupOfMark(
  mark: string,
  among: readonly ProcessSeen[],
  processes: GroupSystem['processes'],
): Promise<number | null> {
  const isMarked = await Promise.all(among.map(({ pid }) => processes.hasVariable(pid, `${MARK}=${mark}`)));
  const marked = among.filter((_, index) => isMarked[index]);
  const [oldest] = marked.sort((one, other) => Number(one.startedAt) - Number(other.startedAt));
  return oldest?.group ?? null;
}
