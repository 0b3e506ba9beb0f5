// Timers → virtual time that many machines share.
import { runTimers } from '../../virtual/run-timers.ts';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  run: (() => void) | null;
}

const SETTLING_TURNS = 12;

/** A heap, because hundreds of timers are armed at a time and each poll arms several. */
export class SimulatedTime {
  readonly #startMs: number;
  readonly #heap: Timer[] = [];
  #nowMs = 0;
  #order = 0;

  /** @param startMs wall time at the begin */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Virtual milliseconds since the begin. */
  get nowMs(): number {
    return this.#nowMs;
  }

  readonly wallMs = (): number => this.#startMs + this.#nowMs;
  readonly elapsedMs = (): number => this.#nowMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    const timer: Timer = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#push(timer);
    return () => {
      timer.run = null;
    };
  };

  /** Runs what falls due until then, in order, and lets promises settle after each. */
  advanceTo(endMs: number): Promise<void> {
    return runTimers(() => this.#runNext(endMs));
  }

  /** Lets so many turns of the event loop pass as a request over a memory connection takes. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < SETTLING_TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** False if no timer is due until then, which is now. */
  #runNext(endMs: number): boolean {
    for (let next = this.#heap[0]; next !== undefined && next.dueMs <= endMs; next = this.#heap[0]) {
      this.#pop();
      if (next.run === null) continue;
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.run();
      return true;
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
    return false;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let place = heap.push(timer) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(timer, heap[parent] as Timer)) break;
      heap[place] = heap[parent] as Timer;
      place = parent;
    }
    heap[place] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Timer;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child += 1;
      if (!isBefore(heap[child] as Timer, last)) break;
      heap[place] = heap[child] as Timer;
      place = child;
    }
    heap[place] = last;
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);
}
