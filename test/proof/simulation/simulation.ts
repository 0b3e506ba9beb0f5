// Part 1 of the proof: histories of a seed, played with whole bridges in virtual time, judged.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { type Counts, FAULTS, type Fault, NOTHING, type Part, type ProofOptions } from '../part.ts';
import { inParallel, turns } from '../turns.ts';
import { scheduledIn } from './history.ts';
import type { JudgedWorld, shortestHistory } from './judged-world.ts';
import type { Finding } from './oracle/finding.ts';
import { plannedHistory } from './plan.ts';
import { storyOf } from './story.ts';
import { Worker } from './workers.ts';

/** Of the histories with findings, so many are shortened and printed. */
const MOST_TOLD = 3;

export const simulation: Part = {
  name: 'simulation',
  run: async (options) => {
    const worlds = await playedWorlds(options);
    const bad = worlds.filter(({ findings }) => findings.length > 0);
    await tellShortest(bad.slice(0, MOST_TOLD), options);
    return countsOf(worlds, options);
  },
};

/** The first ones of the seed, in their order, however the processes shared them. */
async function playedWorlds(options: ProofOptions): Promise<readonly JudgedWorld[]> {
  const { seed, jobs, log } = options;
  const next = plannedWorlds(options);
  const worlds: JudgedWorld[] = [];
  const work = async () => {
    using worker = new Worker();
    for (const world of next) {
      const judged = await worker.run<JudgedWorld>({ seed, world, isToShorten: false });
      worlds[world] = judged;
      // At once: a long run is not over for an hour.
      if (judged.findings.length > 0) log(headlineOf(judged, seed));
    }
  };
  await inParallel(jobs, work);
  return worlds;
}

/** The numbers of the histories to play: as many as make up `maintenances`, or as begin in time. */
function* plannedWorlds({ seed, maintenances, minutes }: ProofOptions): Generator<number> {
  let planned = 0;
  for (const world of turns(minutes, () => planned >= maintenances)) {
    planned += scheduledIn(plannedHistory(seed, world));
    yield world;
  }
}

function countsOf(worlds: readonly JudgedWorld[], { minutes }: ProofOptions): Counts {
  const findings = worlds.flatMap((world) => world.findings);
  const count = (fault: Fault) => findings.filter((finding) => finding.fault === fault).length;
  const maintenances = worlds.reduce((sum, world) => sum + world.maintenances, 0);
  return {
    ...NOTHING,
    ...Object.fromEntries(FAULTS.map((fault) => [fault, count(fault)])),
    maintenances,
    kills: worlds.reduce((sum, world) => sum + world.kills, 0),
    digest: createHash('sha256')
      .update(worlds.map(({ digest }) => digest).join('\n'))
      .digest('hex'),
    problems: findings.filter(({ fault }) => fault === 'late').map(textOf),
    repeatedBy: minutes === null ? {} : { maintenances },
  };
}

async function tellShortest(worlds: readonly JudgedWorld[], { seed, log }: ProofOptions): Promise<void> {
  if (worlds.length === 0) return;
  using worker = new Worker();
  for (const { world } of worlds) {
    log(`history ${world} of seed ${seed} at commit ${commit()}, shortened:`);
    const shortest = await worker.run<Awaited<ReturnType<typeof shortestHistory>>>({ seed, world, isToShorten: true });
    for (const line of storyOf(shortest.history)) log(`  ${line}`);
    for (const finding of shortest.findings) log(`  → ${textOf(finding)}`);
    log(`  all of it: npm run proof -- --seed ${seed} --world ${world}`);
  }
}

function headlineOf({ world, findings }: JudgedWorld, seed: number): string {
  return `history ${world} of seed ${seed}: ${findings.length} findings, such as ${textOf(findings[0] as Finding)}`;
}

export function textOf({ fault, machine, atMs, what }: Finding): string {
  return `${fault} on machine ${machine} at ${(atMs / 1000).toFixed(3)} s: ${what}`;
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
