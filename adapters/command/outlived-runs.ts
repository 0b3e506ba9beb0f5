// A run of which nobody has seen the end → its process group found, or none; a foreign one never.
import type { GroupSystem } from './process-group.ts';
import type { ProcessSeen } from './processes.ts';
import { MARK, type OpenRun } from './run-notes.ts';

/**
 * The number of its process group, where a process of it still runs. The first process is known by its number and start time; the others,
 * where that one has gone, by the mark in their environment. Whoever merely has the number now is not found.
 * @returns null where nothing of it runs
 */
export async function findOutlived(
  { mark, boot, pid, startedAt }: OpenRun,
  { processes }: Pick<GroupSystem, 'processes'>,
): Promise<number | null> {
  if ((await processes.bootId()) !== boot) return null;
  if (pid === null) return groupOfMark(mark, await processes.all(), processes);
  const first = await processes.one(pid);
  // Start times count from the start of the machine: where that cannot be told, as under ProcSubset=pid, the mark alone says whose it is.
  if (boot !== null && first !== null && first.startedAt === startedAt && first.group === pid && !first.isZombie) return pid;
  const members = (await processes.all()).filter(({ group }) => group === pid);
  return groupOfMark(mark, members, processes);
}

/** That of the one that has run longest: what it started may have made groups of its own. */
async function groupOfMark(mark: string, among: readonly ProcessSeen[], processes: GroupSystem['processes']): Promise<number | null> {
  const isMarked = await Promise.all(among.map(({ pid }) => processes.hasVariable(pid, `${MARK}=${mark}`)));
  const marked = among.filter((_, index) => isMarked[index]);
  const [oldest] = marked.sort((one, other) => Number(one.startedAt) - Number(other.startedAt));
  return oldest?.group ?? null;
}
