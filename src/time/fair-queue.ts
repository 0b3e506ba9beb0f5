// Work by caller network → one piece at a time, round-robin; functions → turns of the event loop.
/** The functions in one turn of the event loop. Each may answer a request: together they take well under 10 ms. */
const AT_ONCE = 8;

const waiting: (() => void)[] = [];
let isDue = false;

export class FairQueue {
  /** By side, in the order in which their next turn comes. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #isBusy = false;

  /**
   * Runs `work` when its side has its turn. Nothing is refused: what waits is bounded by the connections that can wait.
   * Rejects with the signal's reason, without running `work`, if the signal aborts before that.
   */
  async take<T>(side: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isBusy) await this.#turn(side, signal);
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(side: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(side) ?? new Set();
      const begin = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        queue.delete(begin);
        if (queue.size === 0) this.#waiting.delete(side);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.set(side, queue.add(begin));
    });
  }

  /** Stays busy while work waits, so that newcomers cannot overtake it. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isBusy = false;
      return;
    }
    const [side, queue] = first;
    const [begin] = queue;
    this.#waiting.delete(side);
    if (begin !== undefined) queue.delete(begin);
    if (queue.size > 0) this.#waiting.set(side, queue);
    begin?.();
  }
}

/** Runs the function in a later turn of the event loop: a few in each, in order, so that other work can run. */
export function nextTurn(run: () => void): void {
  waiting.push(run);
  if (isDue) return;
  isDue = true;
  setImmediate(runWaiting);
}

/** Resolves in a later turn of the event loop. */
export function untilNextTurn(): Promise<void> {
  return new Promise(nextTurn);
}

function runWaiting(): void {
  const now = waiting.splice(0, AT_ONCE);
  isDue = waiting.length > 0;
  if (isDue) setImmediate(runWaiting);
  for (const run of now) run();
}
