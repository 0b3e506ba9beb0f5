// Time → upkeep of the store: rows queued by other processes, and pruning in small steps.
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Usage } from '../outbox/database.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';

const LOOK_OUTSIDE_MS = 1000;
/** A poll that begins so much sooner or later than a second after the last look takes the look with it. */
const POLL_LATE_MS = 100;
const PRUNE_EVERY_MS = 10 * 60 * 1000;
/** Between two steps of one pruning, so that polls and deliveries come in between. */
const PRUNE_PAUSE_MS = 100;
/** How often the size is looked at where there is a bound. */
const LOOK_AT_SIZE_MS = 1000;
/** From this share of `store.maxSize` on what was delivered goes before its time. */
const EARLY_SHARE = 0.8;
/** So many rows at once, as a few may be megabytes, and so often in one turn. */
const [EARLY_ROWS, EARLY_STEPS] = [5, 40];
const WARN_SHARES = [EARLY_SHARE, 0.95];
const CALM_SHARE = 0.7;

export interface UpkeepParts {
  readonly outbox: Outbox;
  readonly retainMs: number;
  readonly deps: Deps;
  readonly logger: Logger;
  /** Another process wrote to the store: `dead-letters retry`, `replay`. */
  readonly changedOutside: () => void;
}

export interface Upkeep {
  /** A poll begins: the process is awake. */
  readonly pollBegins: () => void;
  readonly stop: CancelTimer;
}

/** Goes on until `stop` is called. */
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
 * Once a second: as a poll begins where one does in time, so that the process wakes for both at once, else by a timer. That timer is put off in the
 * turn of the poll's own: put off any later, Node would still wake at its old time.
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

/** Drops what was delivered before its time, the oldest first and no more than needed, while the store is nearly as large as it may be. */
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

/** Logged once for each share, and again only after it has fallen well below the first. */
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
      'the store is nearly as large as store.maxSize: what was delivered is dropped early, oldest first; once it is reached nothing more is stored or sent',
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
