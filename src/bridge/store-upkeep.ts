// Time → upkeep of the store: rows queued by other processes, and pruning in small steps.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Usage } from '../outbox/database.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';

const LOOK_OUTSIDE_MS = 1000;
/** A poll that starts within this distance of the next check triggers the check. */
const POLL_LATE_MS = 100;
const PRUNE_EVERY_MS = 10 * 60 * 1000;
/** The pause between two steps of a pruning, in which polls and deliveries can run. */
const PRUNE_PAUSE_MS = 100;
/** The interval of size checks, if `store.maxSize` is set. */
const LOOK_AT_SIZE_MS = 1000;
/** Above this share of `store.maxSize`, delivered rows are deleted early. */
const EARLY_SHARE = 0.8;
/** The number of rows per step, because a few rows may have megabytes, and the number of steps per turn. */
const [EARLY_ROWS, EARLY_STEPS] = [5, 40];
const WARN_SHARES = [EARLY_SHARE, 0.95];
const CALM_SHARE = 0.7;

interface UpkeepParts {
  readonly outbox: Outbox;
  readonly retainMs: number;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Another process wrote to the store: `dead-letters retry`, `replay`. */
  readonly changedOutside: () => void;
}

export interface Upkeep {
  /** A poll begins, so the process is awake. */
  readonly pollBegins: () => void;
  readonly stop: CancelTimer;
}

/** Runs until `stop` is called. */
export function startUpkeep({ outbox, retainMs, deps, logger, changedOutside }: UpkeepParts): Upkeep {
  const look = () => {
    if (outbox.changedOutside()) changedOutside();
  };
  const looking = startLooking(deps, careful(look, logger));
  let pauseMs = PRUNE_EVERY_MS;
  careful(() => outbox.keepTime(), logger)();
  const prune = () => {
    outbox.keepTime();
    pauseMs = outbox.retention.prune({ retainMs, nowMs: deps.wallMs() }) > 0 ? PRUNE_PAUSE_MS : PRUNE_EVERY_MS;
  };
  const chores = [
    looking.stop,
    repeat(deps, () => pauseMs, careful(prune, logger)),
    ...(outbox.usage().maxBytes === null ? [] : [startEarlyPruning({ outbox, deps, logger })]),
  ];
  return {
    pollBegins: looking.pollBegins,
    stop: () => {
      for (const stop of chores) stop();
    },
  };
}

/**
 * Runs once a second: together with a poll if one begins in time, so that the process wakes only once, else by a timer.
 * The timer is postponed in the turn of the poll's timer. If it were postponed later, Node would still wake at the old
 * time.
 */
function startLooking(deps: Deps, look: () => void): Upkeep {
  let dueMs = 0;
  let cancel: CancelTimer = () => {};
  const wait = (waitMs: number) => {
    dueMs = deps.elapsedMs() + LOOK_OUTSIDE_MS - POLL_LATE_MS;
    cancel = deps.after(waitMs, () => {
      look();
      wait(LOOK_OUTSIDE_MS);
    });
  };
  wait(LOOK_OUTSIDE_MS);
  const pollBegins = () => {
    if (deps.elapsedMs() < dueMs) return;
    cancel();
    look();
    wait(LOOK_OUTSIDE_MS + POLL_LATE_MS);
  };
  return { pollBegins, stop: () => cancel() };
}

/** Deletes delivered rows early while the store is nearly full: the oldest first, and only as many as needed. */
function startEarlyPruning({ outbox, deps, logger }: Pick<UpkeepParts, 'outbox' | 'deps' | 'logger'>): CancelTimer {
  const warn = fillWarnings(logger);
  let pauseMs = LOOK_AT_SIZE_MS;
  const prune = () => {
    warn(outbox.usage());
    pauseMs = LOOK_AT_SIZE_MS;
    for (let step = 0; step < EARLY_STEPS && shareOf(outbox.usage()) >= EARLY_SHARE; step++) {
      if (outbox.retention.prune({ retainMs: 0, nowMs: deps.wallMs(), limit: EARLY_ROWS }) === 0) return;
      if (step === EARLY_STEPS - 1) pauseMs = PRUNE_PAUSE_MS;
    }
  };
  return repeat(deps, () => pauseMs, careful(prune, logger));
}

function shareOf({ bytes, maxBytes }: Usage): number {
  return maxBytes === null ? 0 : bytes / maxBytes;
}

/** Logs once per share, and again only after the size has fallen well below the first share. */
function fillWarnings(logger: Logger): (usage: Usage) => void {
  let warned = 0;
  return ({ bytes, maxBytes }) => {
    const share = shareOf({ bytes, maxBytes });
    if (share < CALM_SHARE) warned = 0;
    const reached = WARN_SHARES.filter((each) => share >= each).length;
    if (reached <= warned) return;
    warned = reached;
    logger.warn(
      { area: 'store', usedBytes: bytes, maxBytes, percent: Math.floor(share * 100) },
      'the store is nearly as large as store.maxSize: delivered events are deleted early, oldest first; at the limit, the bridge stores and sends nothing more',
    );
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

/** Runs maintenance work. Other users of the store report its failures; this work waits for its next turn. */
function careful(work: () => void, logger: Logger): () => void {
  return () => {
    try {
      work();
    } catch (error) {
      logger.debug(
        { area: 'store', reason: messageOf(error) },
        'maintenance of the store failed: the bridge retries later',
      );
    }
  };
}
