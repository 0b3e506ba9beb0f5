// A seed → Deps on virtual time: nothing passes until a test advances it, and what it draws at random repeats.

import type { Deps } from '../../src/time/clock.ts';
import { schedulerOn } from '../../src/time/system.ts';

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
  #seed: number;
  readonly scheduler: Deps['scheduler'];

  constructor(options: { startMs?: number; seed?: number } = {}) {
    this.#wallOffsetMs = options.startMs ?? Date.UTC(2026, 0, 1);
    this.#seed = options.seed ?? 1;
    this.scheduler = schedulerOn(this);
  }

  readonly wallMs = (): number => this.#wallOffsetMs + this.#elapsedMs;
  readonly elapsedMs = (): number => this.#elapsedMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** mulberry32 */
  readonly random = (): number => {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves the wall clock alone, as an administrator or NTP would. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Lets `ms` pass: runs every timer that falls due on the way, in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await settle();
    for (let next = this.#next(endMs); next; next = this.#next(endMs)) {
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.run();
      await settle();
    }
    this.#elapsedMs = endMs;
  }

  #next(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      if (!first || timer.dueMs < first.dueMs || (timer.dueMs === first.dueMs && timer.order < first.order)) first = timer;
    }
    return first;
  }
}

/** Resolves once everything that was ready to run has run: promises, and what they started. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
