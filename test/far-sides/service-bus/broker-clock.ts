// The machine's time plus what a test advanced → the broker's time; what is due then runs.
import { parseDuration } from '../../../src/formats/durations.ts';

interface Due {
  readonly at: number;
  readonly run: () => void;
  readonly timer: NodeJS.Timeout;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds from `10m` or a number. @throws on what is no duration */
export function milliseconds(duration: string | number): number {
  const ms = typeof duration === 'number' ? duration : parseDuration(duration);
  if (ms === null) throw new Error(`no duration: ${duration}`);
  return ms;
}

export class BrokerClock implements Disposable {
  #aheadMs = 0;
  readonly #due = new Set<Due>();

  /** Milliseconds since 1970. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Runs `run` once the clock has reached `at`; its timer keeps no process alive. Returns what cancels it. */
  at(at: number, run: () => void): () => void {
    const fire = () => {
      this.#due.delete(due);
      run();
    };
    const delayMs = Math.min(Math.max(0, at - this.now()), LONGEST_TIMER_MS);
    const due: Due = { at, run, timer: setTimeout(fire, delayMs).unref() };
    this.#due.add(due);
    return () => this.#cancel(due);
  }

  /** Time jumps ahead; what falls due on the way has run, in its order, when this returns. */
  advance(duration: string | number): void {
    const target = this.now() + milliseconds(duration);
    for (let next = this.#next(target); next; next = this.#next(target)) {
      this.#aheadMs += Math.max(0, next.at - this.now());
      this.#cancel(next);
      next.run();
    }
    this.#aheadMs += Math.max(0, target - this.now());
  }

  [Symbol.dispose](): void {
    for (const due of this.#due) this.#cancel(due);
  }

  #next(until: number): Due | undefined {
    return [...this.#due].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  }

  #cancel(due: Due): void {
    clearTimeout(due.timer);
    this.#due.delete(due);
  }
}
