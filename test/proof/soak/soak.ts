// A profile → months of polls, plain and as shipped, with and without sinks: what grows, is lost.
import { inScope } from '../cost/scope.ts';
import { type Counts, NOTHING, type Part, type ProofOptions } from '../part.ts';
import { addedFaults, type FaultCounts } from './judged-deliveries.ts';
import { DAILY, HURRIED, SPARSE } from './mix.ts';
import { type MonthOptions, playedMonth } from './month.ts';
import { type OutageOptions, playedOutage } from './outage.ts';
import { outageVerdict } from './outage-verdict.ts';
import type { Way } from './soaked-bridge.ts';
import { type Bounds, POLLS_A_MONTH, type Verdict, verdictOf } from './verdict.ts';

type Plan = Omit<MonthOptions, 'way' | 'seed'> & { readonly bounds: Bounds };

/**
 * A bridge that has just started grows, by 1 to 2 MiB in 100,000 polls: Node compiles what is called often. A short run finds
 * what stays at each poll: 4 KiB, or a descriptor at every thousandth.
 */
export const SHORT: Plan = {
  ...{ mix: HURRIED, polls: 5000, retain: '1000s', warmUp: 1500, between: 100 },
  bounds: { mib: (POLLS_A_MONTH * 4) / 1024, count: POLLS_A_MONTH / 1000 },
};

/**
 * A month. Five days pass before the first sample: RSS grew by 0.6 MiB in the third day of a shipped bridge, then by
 * nothing.
 */
export const LONG: Plan = {
  ...{ mix: DAILY, polls: POLLS_A_MONTH, retain: '1d', warmUp: 432_000, between: 10_080 },
  bounds: { mib: 4, count: 1 },
};

const SHORT_OUTAGE = { mix: SPARSE, polls: 1152, retain: '2h', givesUpAfter: '4h' };
const LONG_OUTAGE = { mix: SPARSE, polls: 86_400, retain: '1d', givesUpAfter: '24h' };
const WAYS: readonly Way[] = ['plain', 'shipped'];

export const soak: Part = {
  name: 'soak',
  async run(options) {
    const results: Result[] = [];
    for (const { play } of chosenRuns(options)) results.push(await play());
    const failures = results.flatMap(({ name, verdict }) => verdict.failures.map((failure) => `${name}: ${failure}`));
    if (failures.length > 0) throw new Error(`${failures.join('\n')}\n${repeatedBy(options)}`);
    return countsOf(results);
  },
};

/** In their order: first the outages, then the months. */
function chosenRuns(options: ProofOptions): readonly { readonly play: () => Promise<Result> }[] {
  const { isLong, minutes, only } = options;
  const whole = isLong || minutes !== null;
  const outages = (whole ? WAYS : (['plain'] as const)).map((way) => ({
    name: outageName(way),
    play: () => outageOf(way, whole ? LONG_OUTAGE : SHORT_OUTAGE, options),
  }));
  const months = WAYS.map((way) => ({ name: monthName(way), play: () => monthOf(way, whole ? LONG : SHORT, options) }));
  const chosen = [...outages, ...months].filter(({ name }) => only === null || name.includes(only));
  if (chosen.length === 0) throw new Error(`no run's name has "${only}" in it`);
  return chosen;
}

function outageName(way: Way): string {
  return `outage, ${way}`;
}

function monthName(way: Way): string {
  return `soak, ${way}`;
}

interface Result {
  readonly name: string;
  readonly verdict: Verdict;
  readonly maintenances: number;
  readonly faults: FaultCounts;
}

async function monthOf(way: Way, { bounds, ...plan }: Plan, options: ProofOptions): Promise<Result> {
  const { seed, minutes, log } = options;
  const untilMs = minutes === null ? Number.POSITIVE_INFINITY : performance.now() + (minutes * 60_000) / WAYS.length;
  const goesOn = () => performance.now() < untilMs;
  const month = await inScope((t) => playedMonth(t, { ...plan, way, seed, goesOn }));
  const { samples, polls, pollsPerSecond, maintenances, faults } = month;
  const verdict = verdictOf(samples, bounds, POLLS_A_MONTH / plan.mix.betweenMaintenances);
  const name = monthName(way);
  log(`${name}: ${polls} polls at ${pollsPerSecond.toFixed(0)} a second, ${samples.length} samples`);
  for (const line of verdict.lines) log(`${name}: ${line}`);
  return { name, verdict, maintenances, faults };
}

async function outageOf(way: Way, plan: Omit<OutageOptions, 'way' | 'seed'>, options: ProofOptions): Promise<Result> {
  const { seed, log } = options;
  const outage = await inScope((t) => playedOutage(t, { ...plan, way, seed }));
  const name = outageName(way);
  const verdict = outageVerdict(outage, way);
  for (const line of verdict.lines) log(`${name}: ${line}`);
  return { name, verdict, maintenances: outage.maintenances, faults: outage.faults };
}

function countsOf(results: readonly Result[]): Counts {
  const maintenances = results.reduce((sum, result) => sum + result.maintenances, 0);
  return { ...NOTHING, maintenances, ...addedFaults(...results.map(({ faults }) => faults)) };
}

function repeatedBy({ seed, isLong, minutes, only }: ProofOptions): string {
  const long = isLong || minutes !== null ? ' --long' : '';
  return `repeat: npm run proof -- --parts soak --seed ${seed}${long}${only === null ? '' : ` --only '${only}'`}`;
}
