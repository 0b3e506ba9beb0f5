// Worlds that were played → recovery after kills, lateness at healthy sinks, and their bounds.
import type { Recovery } from './bridge-process.ts';
import { idIn, idOf, type Played } from './played.ts';

/** At the median. */
const RECOVERY_MS = 1000;
const LATENESS_MS = 1000;
const HEALTHY = ['audit', 'away'];

export class Figures {
  readonly #recoveries: Recovery[] = [];
  #latestMs = 0;
  #latest = 'none';
  readonly #late: string[] = [];

  add(played: Played): void {
    const kinds = played.plan.faults.map(({ kind }) => kind);
    if (played.plan.killsInEachStep) this.#recoveries.push(...played.bridge.recoveries);
    if (kinds.length > 0 && kinds.every((kind) => kind === 'sink' || kind === 'broker')) this.#addLateness(played);
  }

  get text(): string {
    const whole = median(this.#recoveries.map(({ ms }) => ms)).toFixed(0);
    const recovery = `recovery ${whole} ms at the median of ${this.#recoveries.length} kills`;
    const alone = `${this.#recoveryMs.toFixed(0)} ms without waiting for a processor`;
    return `${recovery} (${alone}), healthy sinks at most ${this.#latestMs.toFixed(0)} ms late (${this.#latest})`;
  }

  /** What breaks its bound, in words. The time in which other programs had the processors does not count. */
  get failures(): readonly string[] {
    const recoveryMs = this.#recoveryMs;
    const slow = recoveryMs > RECOVERY_MS ? [`recovery takes ${recoveryMs.toFixed(0)} ms at the median`] : [];
    return [...slow, ...this.#late];
  }

  get #recoveryMs(): number {
    return median(this.#recoveries.map(({ ms, waitedMs }) => ms - waitedMs));
  }

  #addLateness({ steps, service, arrivals, plan, waits }: Played): void {
    for (const sink of HEALTHY)
      for (const [index, step] of steps.entries()) {
        const atMs = arrivals.get(sink)?.find(({ text }) => idIn(text) === idOf(step))?.atMs;
        const givenMs = service.firstGiven.get(index);
        if (atMs === undefined || givenMs === undefined) continue;
        const lateMs = atMs - givenMs - waits.within(givenMs, atMs);
        if (lateMs > this.#latestMs) [this.#latestMs, this.#latest] = [lateMs, `${plan.name}, ${sink}`];
        if (lateMs > LATENESS_MS)
          this.#late.push(`${plan.name}: ${sink} had ${idOf(step)} ${lateMs.toFixed(0)} ms late`);
      }
  }
}

/** 0 for an empty list. */
function median(list: readonly number[]): number {
  return [...list].sort((one, other) => one - other)[Math.floor(list.length / 2)] ?? 0;
}
