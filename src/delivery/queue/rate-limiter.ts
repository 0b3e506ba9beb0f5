// A rate and the last minute's requests → how many may begin now, or when; kept over restarts.
import type { Logger } from 'pino';
import { messageOf } from '../../errors.ts';
import type { Deps } from '../../time/clock.ts';

const WINDOW_MS = 60_000;
/** Ends of requests are rounded up to this, so that a minute is at most 241 counts however many requests it holds. */
const GRAIN_MS = 250;

export interface RateLimiterOptions {
  /** Requests in any 60 s; null: no limit now, though one may come; undefined: never one, so that nothing is counted. May change at any time. */
  readonly perMinute: () => number | null | undefined;
  /** What `save` was given last, by this process or one before; null where nothing was. */
  readonly load: () => string | null;
  /** Has to outlive the process. */
  readonly save: (text: string) => void;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  readonly logger: Logger;
}

/** As it is stored. */
interface Stored {
  readonly running: number;
  /** Wall time of their end, and how many ended then. */
  readonly ended: readonly (readonly [wallMs: number, count: number])[];
}

/**
 * A window that slides: never more requests in any 60 s than allowed, seen from here and from the other side. A request counts from its
 * beginning until 60 s after its end, since the other side may have taken it at any moment between; a failed one counts like any other.
 * Each beginning is written down before it happens, each end after it. What a killed process had running counts as ended when the next one starts.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  /** By the end of each grain, in elapsed time, rising. */
  readonly #ended = new Map<number, number>();
  #running = 0;
  #isLoaded = false;
  #isUnsaved = false;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Requests in any 60 s; null where there is no limit now. */
  get perMinute(): number | null {
    return this.#options.perMinute() ?? null;
  }

  /** How many requests may begin now; infinitely many without a limit. @throws what `load` throws, and then knows nothing yet */
  free(): number {
    const { perMinute } = this;
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    this.#load();
    return Math.max(0, perMinute - this.#used());
  }

  /** When (elapsed time) the next request may begin, if none of the running ones ends before; null where only their end will tell. */
  nextMs(): number | null {
    const { perMinute } = this;
    if (perMinute === null) return null;
    let tooMany = this.#used() - perMinute + 1;
    if (tooMany <= 0) return this.#options.deps.elapsedMs();
    for (const [endMs, count] of this.#ended) {
      tooMany -= count;
      if (tooMany <= 0) return endMs + WINDOW_MS;
    }
    return null;
  }

  /** A request begins, where one may. */
  begin(): boolean {
    if (this.#options.perMinute() === undefined) return true;
    if (!this.#hasRoom()) return false;
    this.#running += 1;
    this.save();
    return true;
  }

  /** A request that had begun is over, whatever came of it. */
  end(): void {
    if (this.#options.perMinute() === undefined) return;
    this.#running -= 1;
    this.#count(this.#options.deps.elapsedMs(), 1);
    this.save();
  }

  /** Stores the window. A failing store is reported once and delays nothing urgent: the window in memory still holds. */
  save(): void {
    // What was not read yet is not to be written over.
    if (this.perMinute === null || !this.#isLoaded) return;
    const { deps, save, logger } = this.#options;
    const toWallMs = deps.wallMs() - deps.elapsedMs();
    const stored: Stored = {
      running: this.#running,
      ended: [...this.#ended].map(([endMs, count]) => [Math.ceil(endMs + toWallMs), count]),
    };
    try {
      save(JSON.stringify(stored));
      this.#isUnsaved = false;
    } catch (error) {
      const log = { reason: messageOf(error) };
      if (!this.#isUnsaved) logger.warn(log, 'requests could not be counted in the store: a restart may exceed the rate of this sink');
      this.#isUnsaved = true;
    }
  }

  #hasRoom(): boolean {
    try {
      return this.free() >= 1;
    } catch {
      // The lane asks again, and tells why.
      return false;
    }
  }

  #load(): void {
    if (this.#isLoaded) return;
    const text = this.#options.load();
    this.#isLoaded = true;
    if (text === null) return;
    const { running, ended } = JSON.parse(text) as Stored;
    const nowMs = this.#options.deps.elapsedMs();
    const wallMs = this.#options.deps.wallMs();
    // A time ahead is of a clock that was set back since: it counts from now.
    for (const [endMs, count] of ended) this.#count(nowMs - Math.max(0, wallMs - endMs), count);
    this.#count(nowMs, running);
  }

  #used(): number {
    const { elapsedMs } = this.#options.deps;
    let used = this.#running;
    for (const [endMs, count] of this.#ended) {
      if (endMs + WINDOW_MS <= elapsedMs()) this.#ended.delete(endMs);
      else used += count;
    }
    return used;
  }

  #count(atMs: number, count: number): void {
    const endMs = (Math.floor(atMs / GRAIN_MS) + 1) * GRAIN_MS;
    if (count > 0) this.#ended.set(endMs, (this.#ended.get(endMs) ?? 0) + count);
  }
}
