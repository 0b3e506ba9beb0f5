// Numbers of histories from the parent process → each played and judged here; or one shortened.
import { judgedWorld, shortestHistory } from './judged-world.ts';
import { plannedHistory } from './plan.ts';

/** What the parent asks for. */
export interface Task {
  readonly seed: number;
  readonly world: number;
  readonly isToShorten: boolean;
}

process.on('message', ({ seed, world, isToShorten }: Task) => {
  const work = isToShorten ? shortestHistory(plannedHistory(seed, world)) : judgedWorld(seed, world);
  work.then(
    (result) => process.send?.({ result }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
