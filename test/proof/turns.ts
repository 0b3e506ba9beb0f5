// The options of a run → its turns, until it has done enough or its time is over.

const MINUTE_MS = 60_000;

/**
 * Counts turns from 0. A turn that was begun is ended.
 * @param minutes begins turns for so long, or if null until there are enough
 * @param isEnough asked before each turn
 */
export function* turns(minutes: number | null, isEnough: (turn: number) => boolean): Generator<number> {
  const endMs = minutes === null ? null : performance.now() + minutes * MINUTE_MS;
  for (let turn = 0; endMs === null ? !isEnough(turn) : performance.now() < endMs; turn++) yield turn;
}

/** Runs so many workers, at least one, until all of them are done. They take their work from one iterator. */
export async function inParallel(jobs: number, work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));
}
