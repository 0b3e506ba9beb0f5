// A history with a fault → a shorter one that still has it.
import type { History, Step } from './history.ts';

/**
 * Leaves out halves, quarters, … of the steps, then single ones.
 * @param isFaulty plays the history
 * @param mostPlays so that the work follows from the history and not from the time that it takes
 */
export async function shortened(
  history: History,
  isFaulty: (history: History) => Promise<boolean>,
  mostPlays: number,
): Promise<History> {
  let shortest = withoutUnusedMachines(history);
  let plays = 0;
  const stays = async (steps: readonly Step[]) => {
    if (plays >= mostPlays) return false;
    plays += 1;
    const tried = { ...shortest, steps };
    if (!(await isFaulty(tried))) return false;
    shortest = tried;
    return true;
  };
  if (shortest !== history && !(await isFaulty(shortest))) shortest = history;
  for (let size = Math.ceil(shortest.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < shortest.steps.length; ) {
      const { steps } = shortest;
      if (!(await stays([...steps.slice(0, from), ...steps.slice(from + size)]))) from += size;
    }
  }
  return shortest;
}

/** The last machines, if no step is at them. */
function withoutUnusedMachines(history: History): History {
  const used = history.steps.map((step) => ('machine' in step ? step.machine : 0));
  const machines = Math.max(1, ...used.map((machine) => machine + 1));
  return machines < history.machines ? { ...history, machines } : history;
}
