// A moment of this process's elapsed time → the same moment by the clock that all processes of the machine share, in milliseconds.
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Now, where nothing is given. */
export function sharedMs(elapsedMs = performance.now()): number {
  return elapsedMs + OFFSET_MS;
}
