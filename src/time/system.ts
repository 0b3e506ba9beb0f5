// The machine's clocks and an RxJS scheduler → Deps, for cli.ts and simulator.ts only.
import { randomBytes } from 'node:crypto';
import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import type { Deps } from './clock.ts';
import { machineClock } from './machine-clock.ts';

/** A timer in the form of an RxJS action. */
class Action<T> extends Subscription {
  readonly #after: Deps['after'];
  readonly #work: (this: SchedulerAction<T>, state?: T) => void;

  constructor(after: Deps['after'], work: (this: SchedulerAction<T>, state?: T) => void) {
    super();
    this.#after = after;
    this.#work = work;
  }

  schedule(state?: T, delayMs = 0): Subscription {
    this.add(this.#after(delayMs, () => this.#work.call(this as unknown as SchedulerAction<T>, state)));
    return this;
  }
}

/** Returns an RxJS scheduler on the given clocks: each action runs once, after its delay. */
export function schedulerOn(clocks: Pick<Deps, 'elapsedMs' | 'after'>): SchedulerLike {
  return {
    now: clocks.elapsedMs,
    schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delayMs = 0, state?: T): Subscription {
      return new Action(clocks.after, work).schedule(state, delayMs);
    },
  };
}

/** Returns the real clocks, timers and random numbers. */
export function systemDeps(): Deps {
  const clock = machineClock();
  return { ...clock, scheduler: schedulerOn(clock) };
}

/** Returns unguessable bytes for secrets; `random` of Deps is only for jitter. */
export function secureRandom(bytes: number): Uint8Array {
  return randomBytes(bytes);
}
