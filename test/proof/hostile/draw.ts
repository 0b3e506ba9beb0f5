// A source of random numbers → choices; a case's name → its seed.

/** At least 0, below 1. */
export type Draw = () => number;

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
