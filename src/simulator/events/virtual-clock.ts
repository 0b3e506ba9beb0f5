// The machine's clocks and a speed → the simulated time.
import type { Deps } from '../../time/clock.ts';

/** Simulated seconds a second, at most. */
export const FASTEST = 1_000_000;

/** The last millisecond of the year 9999: RFC 1123 and RFC 3339 have four digits for the year. */
const END_OF_TIME_MS = Date.UTC(10_000, 0, 1) - 1;

/** Starts at the wall time of its making; from then on it follows elapsed time, so that no clock change of the machine moves it. */
export class VirtualClock {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  #speed: number;
  #baseMs: number;
  #baseElapsedMs: number;
  readonly #listeners: (() => void)[] = [];

  /** @param speed simulated seconds a second; 0 stops the clock, which then moves by `advance` alone */
  constructor(deps: Pick<Deps, 'wallMs' | 'elapsedMs'>, speed: number) {
    this.#deps = deps;
    this.#speed = speed;
    this.#baseMs = deps.wallMs();
    this.#baseElapsedMs = deps.elapsedMs();
  }

  /** Simulated time in whole milliseconds since 1970. Never falls. */
  nowMs(): number {
    return Math.floor(this.#exactMs());
  }

  /** How far it is ahead of the machine's own wall clock, which clients have; negative where it has fallen behind. */
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

  /** Lets `ms` of simulated time pass at once. False, and nothing happens, where it would leave the four-digit years. */
  advance(ms: number): boolean {
    if (this.#exactMs() + ms > END_OF_TIME_MS) return false;
    this.#rebase(ms);
    this.#notify();
    return true;
  }

  /** Calls `listener` whenever the speed was set or the clock put forward. */
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
