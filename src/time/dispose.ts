// An adapter or approval source → closed, or left behind after a time limit.
import { messageOf } from '../errors.ts';
import { type Deps, sleep } from './clock.ts';

/** Where it has no limit of its own. */
const LIMIT_MS = 2_000;

/** Never rejects; `failed` is called with the reason where it does not close cleanly. */
export async function disposeInTime(
  open: AsyncDisposable,
  deps: Pick<Deps, 'after'>,
  failed: (reason: string) => void,
  limitMs = LIMIT_MS,
): Promise<void> {
  const limit = new AbortController();
  const late = sleep(deps, limitMs, limit.signal).then(() => failed(`not closed after ${limitMs} ms`));
  try {
    await Promise.race([open[Symbol.asyncDispose](), late]);
  } catch (error) {
    failed(messageOf(error));
  }
  limit.abort();
  await late.catch(() => undefined);
}
