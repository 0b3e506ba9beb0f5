// The consumer's clock: the machine's by src/consumer.ts, a virtual one in tests. Types alone.

/** Part of the bridge's Deps, without RxJS. */
export interface Clock {
  /** Milliseconds since 1970, for what is compared with dates. */
  readonly wallMs: () => number;
  /** Elapsed milliseconds, for ages and pauses; it never jumps. */
  readonly elapsedMs: () => number;
  /** Runs `run` once after `delayMs`; what it gives cancels that. */
  readonly after: (delayMs: number, run: () => void) => () => void;
  /** At least 0, below 1. */
  readonly random: () => number;
}
