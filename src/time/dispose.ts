// Running calls → their end; an adapter or approval source → closed, or abandoned after a limit.
import { messageOf } from '../errors.ts';
import { type Deps, sleep } from './clock.ts';

/** The default limit of a part. */
const LIMIT_MS = 2_000;

/** The longest limit of a part: a stop of the bridge waits no longer. */
export const LONGEST_CLOSE_MS = 8_000;

/**
 * Closes `open`. Never rejects: calls `failed` with the reason if it does not close cleanly.
 * @param limitMs at most `LONGEST_CLOSE_MS`
 */
export async function disposeInTime(
  open: AsyncDisposable,
  deps: Pick<Deps, 'after'>,
  failed: (reason: string) => void,
  limitMs = LIMIT_MS,
): Promise<void> {
  const limit = new AbortController();
  const ms = Math.min(limitMs, LONGEST_CLOSE_MS);
  const late = sleep(deps, ms, limit.signal).then(() => failed(`not closed after ${ms} ms`));
  try {
    await Promise.race([open[Symbol.asyncDispose](), late]);
  } catch (error) {
    failed(messageOf(error));
  }
  limit.abort();
  await late.catch(() => undefined);
}

/** The running calls of a part that may close only after them. */
export class Running {
  readonly #calls = new Set<Promise<unknown>>();

  /** Settles like `call`. */
  async track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Resolves once no call is running, including calls that begin meanwhile. Never rejects. */
  async ended(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }
}
