// This machine's clocks and a speed → the simulated time.
import type { Deps } from '../../time/clock.ts';

/** The highest speed, in simulated seconds per second. */
export const FASTEST = 1_000_000;

/** The last millisecond of the year 9999: RFC 1123 and RFC 3339 have four-digit years. */
const END_OF_TIME_MS = Date.UTC(10_000, 0, 1) - 1;

/** Starts at the wall time of its creation and then follows elapsed time, so changes of this machine's clock do not move it. */
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
