// A seed → Deps on virtual time: a test advances it, and what it draws at random repeats.

import type { Deps } from '../../src/time/clock.ts';
import { schedulerOn } from '../../src/time/system.ts';
import { mulberry32 } from '../support/mulberry32.ts';
import { runTimers } from './run-timers.ts';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Deps whose clocks move only by `advance`; the wall clock can be made to jump. */
export class VirtualTime implements Deps {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();
  readonly random: Deps['random'];
  readonly scheduler: Deps['scheduler'];

  constructor(options: { startMs?: number; seed?: number } = {}) {
    this.#wallOffsetMs = options.startMs ?? Date.UTC(2026, 0, 1);
    this.random = mulberry32(options.seed ?? 1);
    this.scheduler = schedulerOn(this);
  }

  readonly wallMs = (): number => this.#wallOffsetMs + this.#elapsedMs;
  readonly elapsedMs = (): number => this.#elapsedMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves the wall clock alone, as an administrator or NTP would. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** As if the code that runs now had taken so long: timers that fall due meanwhile run later. */
  pass(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Lets `ms` pass: runs every timer that falls due on the way, in order, and lets promises settle after each. */
  advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    return runTimers(() => this.#runNext(endMs));
  }

  /** Returns false if no timer is due until then, which is now. */
  #runNext(endMs: number): boolean {
    const next = this.#next(endMs);
    this.#elapsedMs = Math.max(this.#elapsedMs, next?.dueMs ?? endMs);
    if (next === undefined) return false;
    this.#timers.delete(next);
    next.run();
    return true;
  }

  #next(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      if (!first || timer.dueMs < first.dueMs || (timer.dueMs === first.dueMs && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}

/** Resolves once everything that was ready to run has run: promises, and what they started. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
