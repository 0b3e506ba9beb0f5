// The parts of a stopping bridge → all closed, or named in the log when the time is over.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Deps } from './clock.ts';
import { LONGEST_CLOSE_MS } from './dispose.ts';

/**
 * How long running deliveries may take to end. Then they are aborted, and adapters close: a `command` sink sends TERM.
 */
export const DELIVERIES_MS = 7_500;

/** The time after the last adapter has closed or was abandoned: log lines, the store, the end of the process. */
const STORE_MS = 250;

/**
 * The longest stop, even if parts do not close (behaviour 1.6): 16 s. It is 10 s if no adapter needs more than 2 s to
 * close.
 */
export const STOP_LIMIT_MS = DELIVERIES_MS + LONGEST_CLOSE_MS + 2 * STORE_MS;

/**
 * Closes all parts in parallel. Resolves when they have closed, or `STORE_MS` before the limit of a stop: parts that
 * are still open are logged by name, and end with the process. Never rejects.
 */
export async function closeParts(
  parts: Readonly<Record<string, () => PromiseLike<unknown> | undefined>>,
  deps: Pick<Deps, 'after'>,
  logger: Pick<Logger, 'error'>,
): Promise<void> {
  const open = new Set(Object.keys(parts));
  const late = Promise.withResolvers<void>();
  const cancel = deps.after(STOP_LIMIT_MS - STORE_MS, () => {
    logger.error({ left: [...open] }, 'these parts did not close in time: the process ends without waiting for them');
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
