// The faults of a world → each of them begun at a drawn step, and ended once it has left a trace.
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../simulation/chance.ts';
import type { Fault } from './fault.ts';
import type { PlayedFault } from './played.ts';
import type { World } from './world.ts';

/** A fault lasts longer than the limit of a request, or not. */
const FAULT_MS = [500, 2000] as const;
/** A fault that has left no trace within this time never will. Time without a processor does not count. */
const BITE_MS = 20_000;

export class FaultPlayer {
  /** All that have begun, in their order. */
  readonly played: PlayedFault[] = [];
  readonly #world: World;
  readonly #waiting = new Map<number, ((isReached: boolean) => void)[]>();
  #begun = -1;

  constructor(world: World) {
    this.#world = world;
  }

  /** A step has begun. */
  reached(step: number): void {
    this.#begun = step;
    for (const resolve of this.#waiting.get(step) ?? []) resolve(true);
  }

  /** No more steps come: faults that have not begun never will. */
  endSteps(): void {
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve(false);
  }

  /** Resolves when the fault is over, or will not begin. */
  async play(fault: Fault, chance: Chance): Promise<void> {
    const isEarly = fault.name.startsWith('request-') || fault.name === 'answer-lost';
    if (!(await this.#atStep(isEarly ? 0 : chance.between(0, 8)))) return;
    // In the order of the list: what the service has taken does not come again.
    if (!isEarly) await pause(chance.between(0, 200));
    const played: PlayedFault = {
      ...{ fault, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY, hasBitten: false },
    };
    this.played.push(played);
    await fault.begin(this.#world, chance);
    await this.#untilBitten(played, chance.between(...FAULT_MS));
    await fault.end?.(this.#world);
    played.toMs = performance.now();
  }

  /** Looks for traces of faults once more: some appear late. */
  async look(): Promise<void> {
    for (const played of this.played) played.hasBitten ||= await played.fault.hasBitten(this.#world);
  }

  /** Resolves when this step has begun, with false if it never will. */
  #atStep(step: number): Promise<boolean> {
    if (step <= this.#begun) return Promise.resolve(true);
    return new Promise((resolve) => {
      this.#waiting.set(step, [...(this.#waiting.get(step) ?? []), resolve]);
    });
  }

  /** Lasts at least so long, and until it has left a trace. */
  async #untilBitten(played: PlayedFault, leastMs: number): Promise<void> {
    const leastUntilMs = performance.now() + leastMs;
    for (;;) {
      played.hasBitten ||= await played.fault.hasBitten(this.#world);
      const leftMs = leastUntilMs - performance.now();
      if (leftMs <= 0 && (played.hasBitten || !this.#world.hasPatience(leastUntilMs, BITE_MS))) return;
      await pause(played.hasBitten ? leftMs : 20);
    }
  }
}
