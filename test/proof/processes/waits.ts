// When programs waited for a processor → how much of a span they waited.
import { existsSync, readFileSync } from 'node:fs';

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Times in ms of `performance.now()`. */
export class Waits {
  readonly #spans: Span[] = [];

  /** Something waited so long, until this moment. */
  add(untilMs: number, waitedMs: number): void {
    if (waitedMs > 0) this.#spans.push({ fromMs: untilMs - waitedMs, toMs: untilMs });
  }

  /** How long somebody waited between these two. Time in which several waited counts once. */
  within(fromMs: number, toMs: number): number {
    let [sum, countedMs] = [0, fromMs];
    for (const span of this.#spans.toSorted((one, other) => one.fromMs - other.fromMs)) {
      const endMs = Math.min(span.toMs, toMs);
      sum += Math.max(0, endMs - Math.max(span.fromMs, countedMs));
      countedMs = Math.max(countedMs, endMs);
    }
    return sum;
  }
}

/** Looks at processes from time to time → the spans in which their main threads waited. */
export class WaitingThreads {
  readonly #waits: Waits;
  #pid: number | null = null;
  #waitedMs = 0;

  constructor(waits: Waits) {
    this.#waits = waits;
  }

  /** @param pid the process that runs now; null if there is none */
  look(pid: number | null, nowMs: number): void {
    const nowWaitedMs = pid === null ? 0 : waitedMs(pid);
    this.#waits.add(nowMs, nowWaitedMs - (pid === this.#pid ? this.#waitedMs : 0));
    [this.#pid, this.#waitedMs] = [pid, nowWaitedMs];
  }
}

/** How long the main thread of a process was ready to run, and did not (proc(5), `schedstat`); 0 if it is not told. */
export function waitedMs(pid: number): number {
  const path = `/proc/${pid}/schedstat`;
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6 : 0;
}
