// A moment of this process → the same by the clock that all processes share, in milliseconds.
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Now, where nothing is given. */
export function sharedMs(elapsedMs = performance.now()): number {
  return elapsedMs + OFFSET_MS;
}
