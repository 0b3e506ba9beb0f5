// This process → what it holds: memory, descriptors, timers, handles.
import { readdirSync, readFileSync } from 'node:fs';

/** What only the process itself knows, or knows best. Bytes, if nothing else is said. */
export interface Inside {
  readonly rss: number;
  /** Resident memory without the pages of files, which the kernel can take back. */
  readonly anonymous: number;
  readonly heapUsed: number;
  /** Memory of objects outside the heap, buffers included. */
  readonly external: number;
  /** Open files, sockets and pipes. */
  readonly descriptors: number;
  /** Armed timers of the bridge. */
  readonly timers: number;
  /** What keeps Node's event loop alive: sockets, servers, requests, its own timers. */
  readonly handles: number;
}

/**
 * If the process was started with `--expose-gc`, it first collects all garbage and returns free pages to the system.
 * @param timers armed in virtual time
 */
export function measuredInside(timers: number): Inside {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { heapUsed, external } = process.memoryUsage();
  const status = readFileSync('/proc/self/status', 'utf8');
  const field = (name: string) => Number(status.split(`${name}:`)[1]?.split('kB')[0] ?? Number.NaN) * 1024;
  return {
    rss: field('VmRSS'),
    anonymous: field('RssAnon'),
    heapUsed,
    external,
    // Without the one that lists them.
    descriptors: readdirSync('/proc/self/fd').length - 1,
    timers,
    handles: process.getActiveResourcesInfo().length,
  };
}
