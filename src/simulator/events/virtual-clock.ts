// Real time and a speed → the simulated time, and calls when it reaches a moment.
import type { CancelTimer, Deps } from '../../time/clock.ts';

/** The highest speed, in simulated seconds per second. */
export const FASTEST = 1_000_000;

/** The last millisecond of the year 9999: RFC 1123 and RFC 3339 have four-digit years. */
const END_OF_TIME_MS = Date.UTC(10_000, 0, 1) - 1;

/**
 * Starts at the wall time of its creation and then follows elapsed time, so changes of this machine's clock do not move
 * it.
 */
export class VirtualClock {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  #speed: number;
  #baseMs: number;
  #baseElapsedMs: number;
  readonly #listeners: (() => void)[] = [];

  /** @param speed simulated seconds per second; at 0 only `advance` moves the clock */
  constructor(deps: Pick<Deps, 'wallMs' | 'elapsedMs'>, speed: number) {
    this.#deps = deps;
    this.#speed = speed;
    this.#baseMs = deps.wallMs();
    this.#baseElapsedMs = deps.elapsedMs();
  }

  /** Returns the simulated time in whole milliseconds since 1970. It never goes back. */
  nowMs(): number {
    return Math.floor(this.#exactMs());
  }

  /** Returns how far it is ahead of this machine's wall clock, which clients use; negative if it is behind. */
  aheadMs(): number {
    return this.nowMs() - this.#deps.wallMs();
  }

  get speed(): number {
    return this.#speed;
  }

  setSpeed(speed: number): void {
    this.#rebase(0);
    this.#speed = speed;
    this.#notify();
  }

  /** Moves the clock forward by `ms`. Returns false, and does nothing, if that would pass the year 9999. */
  advance(ms: number): boolean {
    if (this.#exactMs() + ms > END_OF_TIME_MS) return false;
    this.#rebase(ms);
    this.#notify();
    return true;
  }

  /** Calls `listener` after each change of speed and each advance. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #rebase(byMs: number): void {
    this.#baseMs = this.#exactMs() + byMs;
    this.#baseElapsedMs = this.#deps.elapsedMs();
  }

  #exactMs(): number {
    return Math.min(this.#baseMs + (this.#deps.elapsedMs() - this.#baseElapsedMs) * this.#speed, END_OF_TIME_MS);
  }
}

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
