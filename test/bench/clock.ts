// A moment of this process → the same by the clock that all processes share, in milliseconds.
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Now, where nothing is given. */
export function sharedMs(elapsedMs = performance.now()): number {
  return elapsedMs + OFFSET_MS;
}

/** The same in milliseconds since 1970, with their fractions. */
export function wallMs(elapsedMs = performance.now()): number {
  return performance.timeOrigin + elapsedMs;
}
