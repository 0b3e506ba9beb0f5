// The parts of a bridge that stops → all of them closed, or named in the log when the time is over.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Deps } from './clock.ts';
import { LONGEST_CLOSE_MS } from './dispose.ts';

/** How long running deliveries may end by themselves. Then they are aborted, and adapters close: a `command` sink sends TERM. */
export const DELIVERIES_MS = 7_500;

/** After the last adapter has closed or is given up: log lines, the store, the end of the process. */
const STORE_MS = 250;

/** A stop takes so long at most, whatever does not close (behaviour 1.6): 16 s. Without an adapter that needs longer than 2 s to close, 10 s. */
export const STOP_LIMIT_MS = DELIVERIES_MS + LONGEST_CLOSE_MS + 2 * STORE_MS;

/**
 * Closes all parts at once. Resolves when they have closed, or `STORE_MS` before the limit of a stop: what is still open then is logged by its
 * name and left to the end of the process. Never rejects.
 */
export async function closeParts(
  parts: Readonly<Record<string, () => PromiseLike<unknown> | undefined>>,
  deps: Pick<Deps, 'after'>,
  logger: Pick<Logger, 'error'>,
): Promise<void> {
  const open = new Set(Object.keys(parts));
  const late = Promise.withResolvers<void>();
  const cancel = deps.after(STOP_LIMIT_MS - STORE_MS, () => {
    logger.error({ left: [...open] }, 'these parts have not closed in time: the process ends without them');
    late.resolve();
  });
  const closed = Object.entries(parts).map(async ([name, close]) => {
    try {
      await close();
    } catch (error) {
      logger.error({ part: name, reason: messageOf(error) }, 'this part was not closed cleanly');
    }
    open.delete(name);
  });
  await Promise.race([Promise.all(closed), late.promise]);
  cancel();
}
