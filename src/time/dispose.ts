// An adapter or approval source → closed, or left behind after a time limit.
import { messageOf } from '../errors.ts';
import { type Deps, sleep } from './clock.ts';

/** Applies if the part has no limit of its own. */
const LIMIT_MS = 2_000;

/** The most that a limit of a part's own may be: a stop of the bridge waits for so long, and no longer. */
export const LONGEST_CLOSE_MS = 8_000;

/** Never rejects; calls `failed` with the reason if `open` does not close cleanly. `limitMs` above `LONGEST_CLOSE_MS` counts as that. */
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
