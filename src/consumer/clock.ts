// The consumer library's clock: the machine's from src/consumer.ts, in tests a virtual one.

/** The part of the bridge's `Deps` that needs no RxJS. */
export interface Clock {
  /** Milliseconds since 1970, to compare with dates. */
  readonly wallMs: () => number;
  /** Elapsed milliseconds, for ages and pauses; it never jumps. */
  readonly elapsedMs: () => number;
  /** Runs `run` once after `delayMs`. Returns a function that cancels it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
  /** At least 0, below 1. */
  readonly random: () => number;
}
