// A sink's rate and the last minute's requests → how many may begin now, or when the next one may.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Queue } from '../outbox/queue.ts';
import type { Deps } from '../time/clock.ts';

const WINDOW_MS = 60_000;
/** Ends of requests are rounded up to this, so that a minute is at most 241 counts however many requests it holds. */
const GRAIN_MS = 250;

interface RequestWindowOptions {
  /** The sink's name. */
  readonly name: string;
  readonly store: Pick<Queue, 'requests' | 'saveRequests'>;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs'>;
  readonly logger: Logger;
}

interface Stored {
  readonly running: number;
  /** Wall time of their end, and how many ended then. */
  readonly ended: readonly (readonly [wallMs: number, count: number])[];
}

/**
 * A window that slides. A request counts from its beginning until 60 s after its end, since the other side may have
 * taken it at any moment between; a failed one counts like any other. What a killed process had running counts as ended
 * when the next one starts. One for each sink: lanes that follow each other, as its configuration changes, count in the
 * same one.
 */
export class RequestWindow {
  readonly #options: RequestWindowOptions;
  /** By the end of each grain, in elapsed time, rising. */
  readonly #ended = new Map<number, number>();
  #running = 0;
  #isLoaded = false;
  #isUnsaved = false;

  constructor(options: RequestWindowOptions) {
    this.#options = options;
  }

  /** How many requests count now. @throws BridgeError BRIDGE_STORE_*, and then nothing is known yet */
  used(): number {
    this.#load();
    const { elapsedMs } = this.#options.deps;
    let used = this.#running;
    for (const [endMs, count] of this.#ended) {
      if (endMs + WINDOW_MS <= elapsedMs()) this.#ended.delete(endMs);
      else used += count;
    }
    return used;
  }

  /**
   * When (elapsed time) so many of them count no more, if no running one ends before; null if one of them has to end
   * first.
   */
  expiryMs(count: number): number | null {
    let left = count;
    for (const [endMs, ended] of this.#ended) {
      left -= ended;
      if (left <= 0) return endMs + WINDOW_MS;
    }
    return null;
  }

  begin(): void {
    this.#running += 1;
  }

  /** A request that had begun is over, whatever came of it. */
  end(): void {
    this.#running -= 1;
    this.#count(this.#options.deps.elapsedMs(), 1);
  }

  /**
   * Stores the window. A failing store is reported once and delays nothing urgent: the window in memory still holds.
   */
  save(): void {
    // What was not read yet is not to be written over.
    if (!this.#isLoaded) return;
    const { name, store, deps, logger } = this.#options;
    const toWallMs = deps.wallMs() - deps.elapsedMs();
    const stored: Stored = {
      running: this.#running,
      ended: [...this.#ended].map(([endMs, count]) => [Math.ceil(endMs + toWallMs), count]),
    };
    try {
      store.saveRequests(name, JSON.stringify(stored));
      this.#isUnsaved = false;
    } catch (error) {
      const log = { reason: messageOf(error) };
      if (!this.#isUnsaved)
        logger.warn(log, 'requests could not be counted in the store: a restart may exceed the rate of this sink');
      this.#isUnsaved = true;
    }
  }

  #load(): void {
    if (this.#isLoaded) return;
    const { name, store, deps } = this.#options;
    const text = store.requests(name);
    this.#isLoaded = true;
    if (text === null) return;
    const { running, ended } = JSON.parse(text) as Stored;
    const nowMs = deps.elapsedMs();
    const wallMs = deps.wallMs();
    // A time ahead is of a clock that was set back since: it counts from now.
    for (const [endMs, count] of ended) this.#count(nowMs - Math.max(0, wallMs - endMs), count);
    this.#count(nowMs, running);
  }

  #count(atMs: number, count: number): void {
    const endMs = (Math.floor(atMs / GRAIN_MS) + 1) * GRAIN_MS;
    if (count > 0) this.#ended.set(endMs, (this.#ended.get(endMs) ?? 0) + count);
  }
}

interface RateLimiterOptions {
  /**
   * Requests in any 60 s; null: no limit now, though one may come; undefined: never one, so that nothing is counted.
   * May change at any time.
   */
  readonly perMinute: () => number | null | undefined;
  readonly requests: RequestWindow;
  readonly deps: Pick<Deps, 'elapsedMs'>;
}

/**
 * Never more requests in any 60 s than allowed, seen from here and from the other side. Each beginning is written down
 * before it happens, each end after it.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
  }

  /** Requests in any 60 s; null if there is no limit now. */
  get perMinute(): number | null {
    return this.#options.perMinute() ?? null;
  }

  /** How many requests may begin now; infinitely many without a limit. @throws BridgeError BRIDGE_STORE_* */
  free(): number {
    const { perMinute } = this;
    return perMinute === null ? Number.POSITIVE_INFINITY : Math.max(0, perMinute - this.#options.requests.used());
  }

  /**
   * When (elapsed time) the next request may begin, if none of the running ones ends before; null if one of them has to
   * end first.
   */
  nextMs(): number | null {
    const { perMinute } = this;
    if (perMinute === null) return null;
    const { requests, deps } = this.#options;
    const tooMany = requests.used() - perMinute + 1;
    return tooMany <= 0 ? deps.elapsedMs() : requests.expiryMs(tooMany);
  }

  /** A request begins, if one may. */
  begin(): boolean {
    if (this.#options.perMinute() === undefined) return true;
    if (!this.#hasRoom()) return false;
    this.#options.requests.begin();
    this.save();
    return true;
  }

  /** A request that had begun is over, whatever came of it. */
  end(): void {
    if (this.#options.perMinute() === undefined) return;
    this.#options.requests.end();
    this.save();
  }

  save(): void {
    if (this.perMinute !== null) this.#options.requests.save();
  }

  #hasRoom(): boolean {
    try {
      return this.free() >= 1;
    } catch {
      // The lane asks again, and logs why.
      return false;
    }
  }
}
