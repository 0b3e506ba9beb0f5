// Part 3 of the proof: every crash of every file that is written, damaged stores, and I/O errors.
import { added } from '../found-fault.ts';
import type { Counts, Part, ProofOptions } from '../part.ts';
import { inParallel, turns } from '../turns.ts';
import { runCheck, type Task } from './check-process.ts';
import { CHECKS } from './checks.ts';
import { withoutStrace } from './strace.ts';

/** Between the seeds of two rounds. */
const STEP = 1_000_003;

export const files: Part = {
  name: 'files',
  missing: withoutStrace,
  run: async (options) => {
    const { jobs, minutes, log } = options;
    const done = { rounds: 0 };
    const tasks = plannedTasks(options, done);
    const all: Counts[] = [];
    const work = async () => {
      for (const task of tasks) {
        const { did, counts } = await runCheck(task);
        const { index, of } = task.share;
        log(`files: ${task.name}${of === 1 ? '' : ` (${index + 1} of ${of})`}, seed ${task.seed}: ${did}`);
        all.push(counts);
      }
    };
    await inParallel(jobs, work);
    return { ...added(all), repeatedBy: minutes === null ? {} : done };
  },
};

/** Whole rounds, each with its own seed, until there are enough or the time is over. */
function* plannedTasks(options: ProofOptions, done: { rounds: number }): Generator<Task> {
  const { seed, rounds, minutes, isLong, only } = options;
  const chosen = Object.entries(CHECKS).filter(([name]) => only === null || name.includes(only));
  if (chosen.length === 0) throw new Error(`no check's name has "${only}" in it`);
  for (const round of turns(minutes, () => done.rounds >= rounds)) {
    for (const [name, { shares }] of chosen)
      for (let index = 0, of = isLong ? shares : 1; index < of; index++)
        yield { name, seed: seed + round * STEP, isLong, share: { index, of } };
    done.rounds += 1;
  }
}
