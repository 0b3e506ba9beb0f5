// Simulated times → calls when the clock reaches them, at any speed and after any advance.
import type { CancelTimer, Deps } from '../time/clock.ts';
import type { VirtualClock } from './events/virtual-clock.ts';

/** The longest real timer; a later time takes several. */
const LONGEST_MS = 60 * 60 * 1000;

interface VirtualTimer {
  readonly dueMs: number;
  readonly run: () => void;
  cancel: CancelTimer;
}

/** Sets no real timer while nothing waits or the clock stands still. */
export class VirtualTimers {
  readonly #clock: VirtualClock;
  readonly #deps: Pick<Deps, 'after'>;
  readonly #timers = new Set<VirtualTimer>();

  constructor(clock: VirtualClock, deps: Pick<Deps, 'after'>) {
    this.#clock = clock;
    this.#deps = deps;
    clock.onChange(() => {
      // A timer that runs may cancel others.
      for (const timer of [...this.#timers]) if (this.#timers.has(timer)) this.#set(timer);
    });
  }

  /** Calls `run` at `dueMs` of simulated time; at once, within this call, if that time has passed. */
  at(dueMs: number, run: () => void): CancelTimer {
    const timer: VirtualTimer = { dueMs, run, cancel: () => undefined };
    this.#timers.add(timer);
    this.#set(timer);
    return () => this.#drop(timer);
  }

  #set(timer: VirtualTimer): void {
    timer.cancel();
    const leftMs = timer.dueMs - this.#clock.nowMs();
    if (leftMs <= 0) {
      this.#drop(timer);
      timer.run();
    } else if (this.#clock.speed > 0) {
      const realMs = Math.min(Math.ceil(leftMs / this.#clock.speed), LONGEST_MS);
      timer.cancel = this.#deps.after(realMs, () => this.#set(timer));
    }
  }

  #drop(timer: VirtualTimer): void {
    timer.cancel();
    this.#timers.delete(timer);
  }
}
