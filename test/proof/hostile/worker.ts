// A target, a seed, a number of cases → failures and figures; the running case is shared.
import { parentPort, workerData } from 'node:worker_threads';
import { drawFrom, seedOfCase } from './draw.ts';
import { Generator } from './generate.ts';
import { Pace } from './pace.ts';
import { TARGETS } from './targets.ts';
import { type Failure, tryCase } from './trial.ts';

export interface Order {
  readonly target: string;
  readonly seed: number;
  readonly from: number;
  readonly cases: number;
  /** The number of the case that runs. */
  readonly running: Int32Array;
}

export interface Done {
  readonly failures: readonly Failure[];
  readonly bytes: number;
  readonly slowestMs: number;
  /** Of the slowest case to the median of its size. */
  readonly ratio: number;
}

/** One target fails the same way again and again. */
const MOST_FAILURES = 5;

const { target: name, seed, from, cases, running } = workerData as Order;
const target = TARGETS.find((one) => one.name === name);
if (target === undefined) throw new Error(`no target ${name}`);
const generator = new Generator(target.material);
const pace = new Pace();
const failures: Failure[] = [];
let [bytes, slowestMs, ratio] = [0, 0, 0];
const fail = (input: Buffer, why: string) => failures.push({ target: name, input: input.toString('base64'), why });

const timed = async (input: Buffer): Promise<readonly [why: string | null, ms: number]> => {
  const sinceMs = performance.now();
  const why = await tryCase(target, input);

  return [why, performance.now() - sinceMs];
};

for (const sample of target.material.samples) {
  const why = await tryCase(target, sample);
  if (why !== null) fail(sample, `the sample itself: ${why}`);
}
for (let index = from; index < from + cases && failures.length < MOST_FAILURES; index++) {
  running[0] = index;
  const input = generator.input(drawFrom(seedOfCase(seed, name, index)));
  bytes += input.length;
  let [why, ms] = await timed(input);
  // Three times in a row, as a collection of garbage costs, too.
  if (pace.isSlow(input.length, ms)) {
    for (let again = 0; again < 3; again++) ms = Math.min(ms, (await timed(input))[1]);
    if (pace.isSlow(input.length, ms))
      why ??= `took ${ms.toFixed(0)} ms, the median is ${pace.medianOf(input.length)} ms`;
  }
  if (ms > slowestMs) [slowestMs, ratio] = [ms, ms / pace.medianOf(input.length)];
  if (why !== null) fail(input, `case ${index}: ${why}`);
}
parentPort?.postMessage({ failures, bytes, slowestMs, ratio } satisfies Done);
