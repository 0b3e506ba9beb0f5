// Options → one bridge after the other as real processes under real faults, and what was wrong.
import { inScope, type Scope } from '../cost/scope.ts';
import { type Counts, NOTHING, type Part, type ProofOptions } from '../part.ts';
import { Figures } from './figures.ts';
import { folderOfRun } from './leftovers.ts';
import { judge } from './oracle.ts';
import { missingFor, worldsOf } from './plan.ts';
import type { Played, WorldPlan } from './played.ts';
import { World } from './world.ts';

/** Maintenances of a story. */
const MAINTENANCES = 3;
/** Worlds at a time for each of `jobs`: most of their time is waiting. */
const WORLDS_OF_A_JOB = 2;
/** A run of all pairs takes long, so it prints how far it is. */
const WORLDS_OF_A_LINE = 20;

export const processes: Part = {
  name: 'processes',
  run: (options) => inScope((scope) => playAll(scope, options)),
};

async function playAll(scope: Scope, options: ProofOptions): Promise<Counts> {
  const folder = folderOfRun(scope);
  const counts: Mutable = { ...NOTHING };
  const figures = new Figures();
  const problems: string[] = [];
  let done = 0;
  const worlds = runnable(options);
  const kafka = options.isLong ? await kafkaFor(scope, options) : null;
  await inTurns(worlds, options.jobs * WORLDS_OF_A_JOB, async (plan) => {
    try {
      const played = await inScope(async (t) => (await World.open(t, plan, kafka, folder)).play());
      count(counts, played, options, problems);
      figures.add(played);
    } catch (error) {
      const problem = `${plan.name}: ${(error as Error).stack}; ${repeat(options, plan)}`;
      options.log(`processes: ${problem}`);
      problems.push(problem);
    }
    done += 1;
    if (done % WORLDS_OF_A_LINE === 0)
      options.log(`processes: ${done} of ${worlds.length} worlds, ${counts.kills} kills, ${figures.text}`);
  });
  options.log(`processes: ${worlds.length} worlds, ${figures.text}`);
  problems.push(...figures.failures);
  return { ...counts, problems };
}

/** Leaves out worlds with a fault that this machine cannot make, and prints the reasons. */
function runnable(options: ProofOptions): readonly WorldPlan[] {
  const reasons = new Set<string>();
  const worlds = worldsOf(options).filter((plan) => {
    const missing = missingFor(plan);
    for (const reason of missing) reasons.add(reason);
    return missing.length === 0;
  });
  for (const reason of reasons) options.log(`processes: not run: ${reason}`);
  return worlds;
}

async function kafkaFor(scope: Scope, { log }: ProofOptions): Promise<readonly string[] | null> {
  const { startKafka } = await import('./brokers.ts');
  const started = await startKafka(scope);
  if (typeof started !== 'string') return started;
  log(`processes: without Kafka: ${started}`);
  return null;
}

type Mutable = { -readonly [Name in keyof Counts]: Counts[Name] };

/** Prints one line for each finding, with what repeats it. */
function count(counts: Mutable, played: Played, options: ProofOptions, problems: string[]): void {
  const { plan, bridge, code, missing } = played;
  counts.maintenances += MAINTENANCES;
  counts.kills += bridge.kills;
  for (const { fault, what } of judge(played)) {
    counts[fault] += 1;
    options.log(`${fault}: ${plan.name}: ${what}; ${repeat(options, plan)}`);
  }
  const mayEnd = plan.faults.some((fault) => fault.mayEnd);
  for (const { how, code: ended, log } of bridge.gone)
    if (how === 'by itself' && !mayEnd)
      problems.push(`${plan.name}: the bridge ended by itself with ${ended}: ${log}; ${repeat(options, plan)}`);
  if (missing.length === 0 && code !== 0)
    problems.push(`${plan.name}: at SIGTERM the bridge ended with ${code}; ${repeat(options, plan)}`);
}

function repeat({ seed, isLong }: ProofOptions, { name }: WorldPlan): string {
  return `repeat: npm run proof -- --parts processes --seed ${seed}${isLong ? ' --long' : ''} --only ${name}`;
}

/** Each of the list, at most so many at a time. */
async function inTurns<T>(list: readonly T[], atOnce: number, run: (each: T) => Promise<void>): Promise<void> {
  const left = list.values();
  const worker = async () => {
    for (const each of left) await run(each);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
