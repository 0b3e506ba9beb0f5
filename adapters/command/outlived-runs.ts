// An open run → its process group, or null; never the group of another program.
import type { GroupSystem } from './process-group.ts';
import type { ProcessSeen } from './processes.ts';
import { MARK, type OpenRun } from './run-notes.ts';

/**
 * Returns the number of the run's process group, or null if none of its processes runs. It finds the first process by pid and start time.
 * If that process has ended, it finds the others by the mark in their environment. A process that has reused the pid is not found.
 */
export async function findOutlived(
  { mark, boot, pid, startedAt }: OpenRun,
  { processes }: Pick<GroupSystem, 'processes'>,
): Promise<number | null> {
  if ((await processes.bootId()) !== boot) return null;
  if (pid === null) return groupOfMark(mark, await processes.all(), processes);
  const first = await processes.one(pid);
  // Start times count from the boot of the machine. If the boot is unknown, as under ProcSubset=pid, only the mark identifies a process.
  if (boot !== null && first !== null && first.startedAt === startedAt && first.group === pid && !first.isZombie) return pid;
  const members = (await processes.all()).filter(({ group }) => group === pid);
  return groupOfMark(mark, members, processes);
}

/** Returns the group of the oldest process, because its child processes may have created other groups. */
async function groupOfMark(mark: string, among: readonly ProcessSeen[], processes: GroupSystem['processes']): Promise<number | null> {
  const isMarked = await Promise.all(among.map(({ pid }) => processes.hasVariable(pid, `${MARK}=${mark}`)));
  const marked = among.filter((_, index) => isMarked[index]);
  const [oldest] = marked.sort((one, other) => Number(one.startedAt) - Number(other.startedAt));
  return oldest?.group ?? null;
}
