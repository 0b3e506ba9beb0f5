// Requests that read the store → one at a time, by network in turn, for half of the time at most.
import { type Deps, sleep } from '../time/clock.ts';
import { FairQueue, untilNextTurn } from '../time/fair-queue.ts';

/**
 * Of the pause behind a reading: one that was long because the machine slept must not keep the others waiting as long
 * again.
 */
const LONGEST_PAUSE_MS = 1000;

/** One for each listener. */
export class ReadingTurns {
  readonly #deps: Pick<Deps, 'after' | 'elapsedMs'>;
  readonly #queue = new FairQueue();

  constructor(deps: Pick<Deps, 'after' | 'elapsedMs'>) {
    this.#deps = deps;
  }

  /**
   * Resolves with the result of `work`, which runs when the network has its turn. Behind it the queue pauses as long as
   * the work took, 1 s at most: so a crowd of readers leaves half of the time to polls, approvals and the garbage
   * collection of what was read. Rejects with the error of `work`, or with the signal's reason if the signal aborts
   * before `work` begins.
   */
  take<T>(network: string, work: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const turn = async () => {
      // Others have their turn of the event loop between two readings.
      await untilNextTurn();
      const sinceMs = this.#deps.elapsedMs();
      try {
        signal.throwIfAborted();
        resolve(await work());
      } catch (error) {
        reject(error);
      }
      const pauseMs = Math.min(this.#deps.elapsedMs() - sinceMs, LONGEST_PAUSE_MS);
      if (pauseMs > 0) await sleep(this.#deps, pauseMs);
    };
    this.#queue.take(network, turn, signal).catch(reject);
    return promise;
  }
}
