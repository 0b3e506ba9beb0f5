// Work that needs the store → done, and retried every second while the store fails.
import type { Logger } from 'pino';
import type { CancelTimer, Deps } from '../time/clock.ts';

const RETRY_MS = 1000;

export class StoreWork {
  readonly #deps: Pick<Deps, 'after'>;
  readonly #logger: Logger;
  readonly #cancels = new Set<CancelTimer>();
  #isStopped = false;

  constructor(deps: Pick<Deps, 'after'>, logger: Logger) {
    this.#deps = deps;
    this.#logger = logger;
  }

  /** Runs the work at once, and retries until it succeeds or `stop` is called. */
  do(work: () => void): void {
    if (this.#isStopped) return;
    try {
      work();
    } catch (error) {
      this.#logger.error({ err: error }, 'the store fails: the bridge retries in a second');
      this.doIn(RETRY_MS, work);
    }
  }

  doIn(pauseMs: number, work: () => void): void {
    const cancel = this.#deps.after(pauseMs, () => {
      this.#cancels.delete(cancel);
      this.do(work);
    });
    this.#cancels.add(cancel);
  }

  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#cancels) cancel();
  }
}
