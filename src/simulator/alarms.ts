// Simulated times → calls when the clock gets there, at any speed and after any advance.
import type { CancelTimer, Deps } from '../time/clock.ts';
import type { VirtualClock } from './events/virtual-clock.ts';

/** Timers cannot be longer; beyond, they are set again. */
const LONGEST_MS = 60 * 60 * 1000;

interface Alarm {
  readonly dueMs: number;
  readonly run: () => void;
  cancel: CancelTimer;
}

/** Holds no timer while nothing waits, nor while the clock stands. */
export class Alarms {
  readonly #clock: VirtualClock;
  readonly #deps: Pick<Deps, 'after'>;
  readonly #alarms = new Set<Alarm>();

  constructor(clock: VirtualClock, deps: Pick<Deps, 'after'>) {
    this.#clock = clock;
    this.#deps = deps;
    clock.onChange(() => {
      // One that rings may drop others.
      for (const alarm of [...this.#alarms]) if (this.#alarms.has(alarm)) this.#set(alarm);
    });
  }

  /** Calls `run` at `dueMs` of simulated time, within this call where that has passed. */
  at(dueMs: number, run: () => void): CancelTimer {
    const alarm: Alarm = { dueMs, run, cancel: () => undefined };
    this.#alarms.add(alarm);
    this.#set(alarm);
    return () => this.#drop(alarm);
  }

  #set(alarm: Alarm): void {
    alarm.cancel();
    const leftMs = alarm.dueMs - this.#clock.nowMs();
    if (leftMs <= 0) {
      this.#drop(alarm);
      alarm.run();
    } else if (this.#clock.speed > 0) {
      const realMs = Math.min(Math.ceil(leftMs / this.#clock.speed), LONGEST_MS);
      alarm.cancel = this.#deps.after(realMs, () => this.#set(alarm));
    }
  }

  #drop(alarm: Alarm): void {
    alarm.cancel();
    this.#alarms.delete(alarm);
  }
}
