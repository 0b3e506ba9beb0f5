// The machine's clocks, timers, random numbers and event loop → Deps without RxJS; a later turn.
import { performance } from 'node:perf_hooks';
import type { Deps } from './clock.ts';

/** setTimeout uses 32 bits; a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Elapsed time counts from the boot, so that it continues in the next process. */
const BOOTED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The functions in one turn of the event loop. Each may answer a request: together they take well under 10 ms. */
const AT_ONCE = 8;

const waiting: (() => void)[] = [];
let isDue = false;

/** Returns the real clocks and random numbers. */
export function machineClock(): Omit<Deps, 'scheduler'> {
  return { wallMs: () => Date.now(), elapsedMs: () => BOOTED_MS + performance.now(), after, random: Math.random };
}

function after(delayMs: number, run: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number) => {
    const stepMs = Math.min(Math.max(leftMs, 0), LONGEST_TIMER_MS);
    timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), stepMs);
  };
  arm(delayMs);
  return () => clearTimeout(timer);
}

/** Runs the function in a later turn of the event loop: a few in each, in order, so that other work can run. */
export function nextTurn(run: () => void): void {
  waiting.push(run);
  if (isDue) return;
  isDue = true;
  setImmediate(runWaiting);
}

/** Resolves in a later turn of the event loop. */
export function untilNextTurn(): Promise<void> {
  return new Promise(nextTurn);
}

function runWaiting(): void {
  const now = waiting.splice(0, AT_ONCE);
  isDue = waiting.length > 0;
  if (isDue) setImmediate(runWaiting);
  for (const run of now) run();
}
