// A seed and a number of cases → each target in a thread with little memory, and what failed.
import { Worker } from 'node:worker_threads';
import { drawFrom, seedOfCase } from './draw.ts';
import { Generator } from './generate.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets.ts';
import type { Failure } from './trial.ts';
import type { Done, Order } from './worker.ts';

/** Of a thread: the samples, the product, one case. */
const MOST_MEMORY_MB = 160;
/** A case that runs longer hangs. */
const LONGEST_MS = 20_000;
const LOOK_MS = 500;

export interface HostileOptions {
  readonly seed: number;
  /** Of each target. */
  readonly cases: number;
  /** Targets whose names contain this; all by default. */
  readonly only?: string;
  /** Threads side by side; 2 by default. */
  readonly threads?: number;
  readonly onTarget?: (figures: TargetFigures) => void;
}

export interface TargetFigures extends Done {
  readonly target: string;
  readonly cases: number;
  readonly seconds: number;
}

export interface HostileResult {
  readonly cases: number;
  readonly failures: readonly Failure[];
}

export async function run({ seed, cases, only = '', threads = 2, onTarget }: HostileOptions): Promise<HostileResult> {
  const failures: Failure[] = [];
  const waiting = TARGETS.filter(({ name }) => name.includes(only));
  const count = waiting.length;
  const work = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      const figures = await campaign(target, seed, cases);
      failures.push(...figures.failures);
      onTarget?.(figures);
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
  return { cases: cases * count, failures };
}

async function campaign(target: Target, seed: number, cases: number): Promise<TargetFigures> {
  const running = new Int32Array(new SharedArrayBuffer(4));
  const sinceMs = performance.now();
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: { target: target.name, seed, from: 0, cases, running } satisfies Order,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
  });
  const done = await new Promise<Done>((resolve) => {
    let [last, lastMs] = [-1, performance.now()];
    const fail = (why: string) => {
      clearInterval(watch);
      void worker.terminate();
      const index = running[0] ?? 0;
      const input = new Generator(target.material).input(drawFrom(seedOfCase(seed, target.name, index)));
      const failure = { target: target.name, input: input.toString('base64'), why: `case ${index}: ${why}` };
      resolve({ failures: [failure], bytes: 0, slowestMs: Number.NaN, ratio: Number.NaN });
    };
    const watch = setInterval(() => {
      const nowMs = performance.now();
      if (running[0] !== last) [last, lastMs] = [running[0] ?? 0, nowMs];
      else if (nowMs - lastMs > LONGEST_MS) fail('it hangs');
    }, LOOK_MS);
    worker.once('error', (error) => fail(`the thread ended: ${error.stack ?? error.message}`));
    worker.once('message', (message: Done) => {
      clearInterval(watch);
      resolve(message);
    });
  });
  await worker.terminate();
  return { ...done, target: target.name, cases, seconds: (performance.now() - sinceMs) / 1000 };
}
