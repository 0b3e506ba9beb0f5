// The machine's clocks, timers and chance, without RxJS. Only system.ts and consumer.ts import it.
import { performance } from 'node:perf_hooks';
import type { Deps } from './clock.ts';

/** setTimeout counts in 32 bits; a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Elapsed time from the boot on, so that the next process can go on with it. */
const BOOTED_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Real time and chance. */
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
