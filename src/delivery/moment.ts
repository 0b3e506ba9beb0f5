// Clocks and random numbers → both at one moment, for decisions that repeat.
import type { Deps } from '../time/clock.ts';

/** The clocks at one moment, and chance: two numbers, each at least 0 and below 1. */
export interface Moment {
  readonly elapsedMs: number;
  readonly wallMs: number;
  /**
   * `key` is for all keys of one call: those that failed together are due together, so that the same batch goes again,
   * under the same id.
   */
  readonly chance: { readonly key: number; readonly sink: number };
}

export function moment({ wallMs, elapsedMs, random }: Deps): Moment {
  return { wallMs: wallMs(), elapsedMs: elapsedMs(), chance: { key: random(), sink: random() } };
}
