// An adapter of a lane, or a source of approvals → closed, or left behind after a while, so that nothing at the end waits for it.
import { messageOf } from '../errors.ts';
import { type Deps, sleep } from './clock.ts';

const LIMIT_MS = 2_000;

/** Never rejects; `failed` is told why it is not closed cleanly. */
export async function disposeInTime(open: AsyncDisposable, deps: Pick<Deps, 'after'>, failed: (reason: string) => void): Promise<void> {
  const limit = new AbortController();
  const late = sleep(deps, LIMIT_MS, limit.signal).then(() => failed(`not closed after ${LIMIT_MS} ms`));
  try {
    await Promise.race([open[Symbol.asyncDispose](), late]);
  } catch (error) {
    failed(messageOf(error));
  }
  limit.abort();
  await late.catch(() => undefined);
}
