// A seed → random numbers that repeat.

/**
 * Returns the generator mulberry32: each call returns the next number of the seed's sequence, at least 0 and below 1.
 * Seeds that differ by a multiple of 2^32 have the same sequence.
 */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
