// Time → what has to be done now and then: looking for what another process queued, and pruning the store in steps too short to notice.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { CancelTimer, Deps } from '../time.ts';

const LOOK_OUTSIDE_MS = 1000;
const PRUNE_EVERY_MS = 10 * 60 * 1000;
/** Between two steps of one pruning, so that polls and deliveries come in between. */
const PRUNE_PAUSE_MS = 100;

export interface ChoresParts {
  readonly outbox: Outbox;
  readonly retainMs: number;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Another process wrote to the store: `dead-letters retry`, `replay`. */
  readonly changedOutside: () => void;
}

/** Goes on until the returned function is called. */
export function startChores({ outbox, retainMs, deps, logger, changedOutside }: ChoresParts): CancelTimer {
  const look = () => {
    if (outbox.changedOutside()) changedOutside();
  };
  let pauseMs = PRUNE_EVERY_MS;
  const prune = () => {
    const removed = outbox.prune({ retainMs, nowMs: deps.wallMs() });
    pauseMs = removed > 0 ? PRUNE_PAUSE_MS : PRUNE_EVERY_MS;
  };
  const stopLooking = repeat(deps, () => LOOK_OUTSIDE_MS, careful(look, logger));
  const stopPruning = repeat(deps, () => pauseMs, careful(prune, logger));
  return () => {
    stopLooking();
    stopPruning();
  };
}

function repeat(deps: Deps, pauseMs: () => number, work: () => void): CancelTimer {
  let cancel: CancelTimer;
  const next = () => {
    cancel = deps.after(pauseMs(), () => {
      work();
      next();
    });
  };
  next();
  return () => cancel();
}

/** A store that fails now is reported by what it was needed for; a chore waits for its next turn. */
function careful(work: () => void, logger: Logger): () => void {
  return () => {
    try {
      work();
    } catch (error) {
      logger.debug({ area: 'store', reason: messageOf(error) }, 'a chore on the store failed and is tried again later');
    }
  };
}
