// The machine's clocks, timers and random numbers → Deps without RxJS.
import { performance } from 'node:perf_hooks';
import type { Deps } from './clock.ts';

/** setTimeout uses 32 bits; a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Elapsed time counts from the boot, so that it continues in the next process. */
const BOOTED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

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
