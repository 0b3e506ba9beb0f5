// Times of cases → those that took 100 times as long as the median of their size, and much a byte.

/** What the collector of garbage may take from a case. */
const LEAST_MS = 50;
/** Parsing YAML, the slowest work, takes 2 to 20 µs a byte. Many inputs are refused at their first byte. */
const MS_A_BYTE = 0.1;
const RATIO = 100;
/** Times of each size that the median is taken of. */
const KEPT = 199;

export class Pace {
  /** By the logarithm of the size. */
  readonly #times = new Map<number, number[]>();
  readonly #medians = new Map<number, number>();

  /** Returns whether the case must be measured again. */
  isSlow(bytes: number, ms: number): boolean {
    const size = Math.floor(Math.log2(bytes + 1));
    const times = this.#times.get(size) ?? [];
    this.#times.set(size, times);
    if (times.length < KEPT) times.push(ms);
    if (times.length % 20 === 1 && times.length < KEPT)
      this.#medians.set(size, times.toSorted((one, other) => one - other)[times.length >> 1] ?? ms);
    const median = Math.max(this.#medians.get(size) ?? ms, 0.001);
    return ms > LEAST_MS + bytes * MS_A_BYTE && ms > RATIO * median;
  }

  /** The median of the size of an input, in milliseconds. */
  medianOf(bytes: number): number {
    return Math.max(this.#medians.get(Math.floor(Math.log2(bytes + 1))) ?? Number.POSITIVE_INFINITY, 0.001);
  }
}
