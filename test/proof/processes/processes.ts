// Options → one bridge after the other as real processes under real faults, and what was wrong.
import { inScope, type Scope } from '../cost/scope.ts';
import { type Counts, NOTHING, type Part, type ProofOptions } from '../part.ts';
import { inParallel, turns } from '../turns.ts';
import { Figures } from './figures.ts';
import { folderOfRun } from './leftovers.ts';
import { judge } from './oracle.ts';
import { KILLS_OF_A_WORLD, missingFor, mostWorlds, worldsOf } from './plan.ts';
import type { Played, WorldPlan } from './played.ts';
import { World } from './world.ts';

/** Maintenances of a story. */
const MAINTENANCES = 3;
/** Worlds at a time for each of `jobs`: most of their time is waiting. */
const WORLDS_OF_A_JOB = 2;
/** A run of all pairs takes long, so it prints how far it is. */
const WORLDS_OF_A_LINE = 20;
/** Lines of the log that are printed with findings. */
const MOST_WARNINGS = 40;

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
  const worlds = new Begun(options);
  const kafka = options.isLong ? await kafkaFor(scope) : null;
  if (typeof kafka === 'string') worlds.reasons.add(`Kafka: ${kafka}`);
  const brokers = typeof kafka === 'string' ? null : kafka;
  const playOne = async (plan: WorldPlan) => {
    try {
      const played = await inScope(async (t) => (await World.open(t, plan, brokers, folder)).play());
      count(counts, played, options, problems);
      figures.add(played);
    } catch (error) {
      const problem = `${plan.name}: ${(error as Error).stack}; ${repeat(options, plan)}`;
      options.log(`processes: ${problem}`);
      problems.push(problem);
    }
    done += 1;
    if (done % WORLDS_OF_A_LINE === 0) options.log(`processes: ${done} worlds, ${counts.kills} kills, ${figures.text}`);
  };
  const plans = worlds.plans();
  await inParallel(options.jobs * WORLDS_OF_A_JOB, async () => {
    for (const plan of plans) await playOne(plan);
  });
  for (const reason of worlds.reasons) options.log(`processes: not run: ${reason}`);
  // A person may play the short profile without.
  if (options.isLong || process.env['REQUIRE_PROOF'])
    problems.push(...[...worlds.reasons].map((reason) => `not run: ${reason}`));
  options.log(`processes: ${done} worlds, ${figures.text}`);
  problems.push(...figures.failures);
  if (options.minutes === null) return { ...counts, problems };
  options.log(`processes: repeat: ${repeatOf(options, `first-${worlds.count}`)} --kills ${options.kills}`);
  return { ...counts, problems, repeatedBy: { kills: worlds.killing * KILLS_OF_A_WORLD } };
}

/** Worlds until the list or the time is over, without those with a fault that this machine cannot make. */
class Begun {
  /** Of the list, with those that are left out. */
  count = 0;
  /** Of them, those that only kill. */
  killing = 0;
  readonly reasons = new Set<string>();
  readonly #options: ProofOptions;

  constructor(options: ProofOptions) {
    this.#options = options;
  }

  *plans(): Generator<WorldPlan> {
    const time = turns(this.#options.minutes, (turn) => turn >= mostWorlds(this.#options));
    for (const plan of worldsOf(this.#options)) {
      if (time.next().done) return;
      this.count += 1;
      if (plan.killsInEachStep) this.killing += 1;
      const missing = missingFor(plan);
      for (const reason of missing) this.reasons.add(reason);
      if (missing.length === 0) yield plan;
    }
  }
}

/** Returns its addresses, or why there is none. */
async function kafkaFor(scope: Scope): Promise<readonly string[] | string> {
  const { startKafka } = await import('./brokers.ts');
  return await startKafka(scope);
}

type Mutable = { -readonly [Name in keyof Counts]: Counts[Name] };

/** Prints one line for each finding, with what repeats it. */
function count(counts: Mutable, played: Played, options: ProofOptions, problems: string[]): void {
  const { plan, bridge, code, missing } = played;
  counts.maintenances += MAINTENANCES;
  counts.kills += bridge.kills;
  const findings = judge(played);
  for (const { fault, what } of findings) {
    counts[fault] += 1;
    options.log(`${fault}: ${plan.name}: ${what}; ${repeat(options, plan)}`);
  }
  if (findings.length > 0) options.log(warningsIn(bridge.wholeLog));
  for (const { fault, hasBitten } of missing.length === 0 ? played.faults : [])
    if (!hasBitten) problems.push(`${plan.name}: the fault ${fault.name} left no trace; ${repeat(options, plan)}`);
  const mayEnd = plan.faults.some((fault) => fault.mayEnd);
  for (const { how, code: ended, log } of bridge.gone)
    if (how === 'by itself' && !mayEnd)
      problems.push(`${plan.name}: the bridge ended by itself with ${ended}: ${log}; ${repeat(options, plan)}`);
  if (missing.length === 0 && code !== 0)
    problems.push(`${plan.name}: at SIGTERM the bridge ended with ${code}; ${repeat(options, plan)}`);
}

/** A finding on a busy machine may not come again: the log of its bridges says what they did. */
function warningsIn(log: string): string {
  const isWarning = (line: string) => /"level":"(warn|error|fatal)"/.test(line);
  return log.split('\n').filter(isWarning).slice(0, MOST_WARNINGS).join('\n');
}

function repeat(options: ProofOptions, { name }: WorldPlan): string {
  return `repeat: ${repeatOf(options, name)}`;
}

function repeatOf({ seed, isLong }: ProofOptions, only: string): string {
  return `npm run proof -- --parts processes --seed ${seed}${isLong ? ' --long' : ''} --only ${only}`;
}
