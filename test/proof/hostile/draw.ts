// A seed → numbers, choices and texts; the same ones for the same seed.

/** At least 0, below 1. */
export type Draw = () => number;

/** Mulberry32: small, quick, and good enough for inputs of tests. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of one case of a target, so that a case can be repeated alone. */
export function seedOfCase(seed: number, target: string, index: number): number {
  let hash = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0;
  for (let at = 0; at < target.length; at++) hash = Math.imul(hash ^ target.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

export function below(draw: Draw, end: number): number {
  return Math.floor(draw() * end);
}

export function pick<T>(draw: Draw, from: readonly T[]): T {
  return from[below(draw, from.length)] as T;
}
