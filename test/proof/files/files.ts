// A seed → every crash of every file that is written, as one part of `npm run proof`.
import { failEachCall } from './disk-errors.ts';
import { proveStore } from './store-crashes.ts';
import { damageLog, flipPages } from './store-damage.ts';
import { withoutStrace } from './strace.ts';

export interface FilesOptions {
  readonly seed: number;
  /** True: each state of each crash, and each call that can fail. Otherwise some, by the seed. */
  readonly isLong: boolean;
  readonly log: (line: string) => void;
}

/** Maintenances of one recording or one start. */
const MAINTENANCES = 5;

/**
 * Returns how many maintenances were played to their end on what a crash, damage or an error had left.
 * @throws what is wrong, with the crash that led to it; or the reason why nothing can be recorded here
 */
export async function proveFiles({ seed, isLong, log }: FilesOptions): Promise<{ readonly maintenances: number }> {
  if (withoutStrace !== false) throw new Error(withoutStrace);
  const store = await proveStore({ seed, isLong });
  log(`store: ${store.crashes} crashes, ${store.states} states opened, ${store.resumed} continued to the end`);
  const pages = await flipPages({ seed, bits: isLong ? 64 : 4 });
  log(`pages with a flipped bit: ${pages.refused} refused, ${pages.whole} whole`);
  const frames = await damageLog({ seed, bits: isLong ? 4 : 1, oneOf: isLong ? 1 : 20 });
  log(`logs cut or with a flipped bit: ${frames.refused} refused, ${frames.whole} without anything invented`);
  const errors = await failEachCall({ seed, oneOf: isLong ? 1 : 120 });
  log(`I/O errors: ${errors.runs} runs over ${errors.calls} calls, ${errors.refused} ended with an error of the store`);
  const starts = store.resumed + pages.whole + frames.whole + errors.runs;
  return { maintenances: starts * MAINTENANCES };
}
