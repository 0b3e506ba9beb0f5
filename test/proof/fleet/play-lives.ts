// Lives → played in child processes, a few at a time.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { inParallel } from '../turns.ts';
import type { Life } from './life.ts';
import type { PlayedLife } from './played-life.ts';

/** In the order of the lives, however the processes shared them. @throws Error if one could not be played */
export async function playLives(lives: readonly Life[], jobs: number): Promise<readonly PlayedLife[]> {
  const played: PlayedLife[] = [];
  const next = lives.entries();
  const work = async () => {
    for (const [number, life] of next) {
      // One process for each: its memory is that of a hundred bridges.
      const child = fork(join(import.meta.dirname, 'life-worker.ts'));
      try {
        played[number] = await playedBy(child, life);
      } finally {
        if (child.connected) child.disconnect();
      }
    }
  };
  await inParallel(jobs, work);
  return played;
}

function playedBy(child: ChildProcess, life: Life): Promise<PlayedLife> {
  return new Promise((resolve, reject) => {
    const where = `life "${life.name}" of seed ${life.seed}`;
    child.once('exit', (code) => reject(new Error(`the process of ${where} ended with ${code}`)));
    child.once('message', ({ played, error }: { readonly played?: PlayedLife; readonly error?: string }) => {
      if (played === undefined) reject(new Error(`${where} could not be played: ${error}`));
      else resolve(played);
    });
    child.send(life);
  });
}
