// Batches of cases → each tried in this thread; failures and figures. The running case is shared.
import { parentPort, workerData } from 'node:worker_threads';
import { mulberry32 } from '../../support/mulberry32.ts';
import { seedOfCase } from './draw.ts';
import { Generator } from './generate.ts';
import { Pace } from './pace.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets.ts';
import { type Failure, tryCase, type Wrong } from './trial.ts';

export interface Batch {
  readonly target: string;
  readonly seed: number;
  /** The number of the first case. */
  readonly from: number;
  readonly cases: number;
}

export interface Done {
  readonly failures: readonly Failure[];
  readonly ms: number;
  readonly bytes: number;
  readonly slowestMs: number;
}

/** The number of the case that runs, for the thread that watches this one. */
const running = workerData as Int32Array;

interface Trial {
  readonly target: Target;
  readonly generator: Generator;
  readonly pace: Pace;
}

const trials = new Map(
  TARGETS.map((target): readonly [string, Trial] => [
    target.name,
    { target, generator: new Generator(target.material), pace: new Pace() },
  ]),
);

async function tried({ target: name, seed, from, cases }: Batch): Promise<Done> {
  const trial = trials.get(name);
  if (trial === undefined) throw new Error(`no target ${name}`);
  const failures: Failure[] = [];
  const sinceMs = performance.now();
  let [bytes, slowestMs] = [0, 0];
  for (let index = from; index < from + cases; index++) {
    running[0] = index;
    const input = trial.generator.input(mulberry32(seedOfCase(seed, name, index)));
    bytes += input.length;
    const [wrong, ms] = await judged(trial, input);
    slowestMs = Math.max(slowestMs, ms);
    if (wrong !== null) failures.push({ target: name, index, input: input.toString('base64'), ...wrong });
  }
  return { failures, ms: performance.now() - sinceMs, bytes, slowestMs };
}

async function judged({ target, pace }: Trial, input: Buffer): Promise<readonly [wrong: Wrong | null, ms: number]> {
  let [wrong, ms] = await timed(target, input);
  if (!pace.isSlow(input.length, ms)) return [wrong, ms];
  // Three times in a row, as a collection of garbage costs, too.
  for (let again = 0; again < 3; again++) ms = Math.min(ms, (await timed(target, input))[1]);
  if (pace.isSlow(input.length, ms))
    wrong ??= { why: `took ${ms.toFixed(0)} ms, the median is ${pace.medianOf(input.length)} ms` };
  return [wrong, ms];
}

async function timed(target: Target, input: Buffer): Promise<readonly [wrong: Wrong | null, ms: number]> {
  const sinceMs = performance.now();
  const wrong = await tryCase(target, input);
  return [wrong, performance.now() - sinceMs];
}

parentPort?.on('message', async (batch: Batch) => parentPort?.postMessage(await tried(batch)));
