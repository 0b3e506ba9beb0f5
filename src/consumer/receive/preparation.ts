// `prepare` and `recover` → handlers that call each of them once for an event (protocol 5.0).
import { hasWorsened } from '../../model/worsened.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { EventOf, LifeEvent } from '../event.ts';
import type { HandlerContext, Handlers } from './handlers.ts';
import { isNewer, isOlder, lastEndOf } from './last-end.ts';
import { isPrepared, memoryState, type Prepared, type PreparedState, type StoredEvent } from './prepared-state.ts';

/** The CloudEvent to prepare for: `scheduled`, `updated` or `started`. */
export type NoticeEvent = EventOf<Notice>;
type Notice = 'scheduled' | 'updated' | 'started';

export interface PrepareContext extends HandlerContext {
  /** False if the event was already `Started` when the first CloudEvent came. It is then too late to approve. */
  readonly noticed: boolean;
  /** True if it was prepared before and has got worse since then. An earlier approval is void, so approve again. */
  readonly again: boolean;
}

export interface PreparationOptions {
  /**
   * Called once for each event, and again if the event got worse or the last call failed. It throws if it cannot
   * prepare: the event comes again.
   */
  readonly prepare: (event: NoticeEvent, context: PrepareContext) => unknown;
  /** Called once when an event is gone that was prepared, at least in part. With `canceled` it did not happen. */
  readonly recover: (
    event: EventOf<'ended'>,
    outcome: EventOf<'ended'>['data']['outcome'],
    context: HandlerContext,
  ) => unknown;
  /** Returns true for the events to prepare for; all if absent. */
  readonly concerns?: (event: NoticeEvent) => boolean;
  /** Keeps the prepared events and the last ends; in memory if absent. */
  readonly state?: PreparedState;
  /**
   * `scheduled` and `updated` are passed if their NotBefore is older than this, in milliseconds. 10 minutes if absent.
   */
  readonly staleAfterMs?: number;
  /**
   * How long the end of an event is kept, so that late CloudEvents of it are passed, in milliseconds. 7 days if absent.
   */
  readonly keepEndedMs?: number;
}

/** Handlers to spread into those of a receiver or dispatcher. */
export type PreparationHandlers = Required<Pick<Handlers, 'onScheduled' | 'onUpdated' | 'onStarted' | 'onEnded'>>;

const STALE_AFTER_MS = 10 * 60_000;
const KEEP_ENDED_MS = 7 * 86_400_000;

/** @throws ConsumerError `usage` if a time is not valid */
export function preparationOn(options: PreparationOptions, clock: Pick<Clock, 'wallMs'>): PreparationHandlers {
  const preparation = new Preparation(options, clock);
  return {
    onScheduled: (event, context) => preparation.noticed('scheduled', event, context),
    onUpdated: (event, context) => preparation.noticed('updated', event, context),
    onStarted: (event, context) => preparation.noticed('started', event, context),
    onEnded: (event, context) => preparation.ended(event, context),
  };
}

class Preparation {
  readonly #options: PreparationOptions;
  readonly #state: PreparedState;
  readonly #staleAfterMs: number;
  readonly #keepEndedMs: number;
  readonly #clock: Pick<Clock, 'wallMs'>;

  constructor(options: PreparationOptions, clock: Pick<Clock, 'wallMs'>) {
    const { state = memoryState(), staleAfterMs = STALE_AFTER_MS, keepEndedMs = KEEP_ENDED_MS } = options;
    if (!(staleAfterMs >= 0 && keepEndedMs >= 0))
      throw new ConsumerError('usage', 'staleAfterMs and keepEndedMs must be at least 0');
    this.#options = options;
    this.#state = state;
    this.#staleAfterMs = staleAfterMs;
    this.#keepEndedMs = keepEndedMs;
    this.#clock = clock;
  }

  /** Prepares, if the event is new or has got worse, and concerns this consumer. */
  async noticed(change: Notice, event: NoticeEvent, context: HandlerContext): Promise<void> {
    const { prepare, concerns = () => true } = this.#options;
    const key = keyOf(event);
    const found = await this.#stored(key);
    if (found !== undefined && isPassed(change, event, found)) return;
    const before = found !== undefined && isPrepared(found) ? found : undefined;
    if ((change !== 'started' && this.#isOldNews(event)) || !concerns(event)) {
      // A later update may be due.
      if (found !== undefined && !isPrepared(found) && found.isOver)
        await this.#state.set(key, { ...found, isOver: false });
      return;
    }
    if (before !== undefined && !isDue(before, event)) return;
    const { eventId, eventType, durationInSeconds, resources, notBefore, eventStatus } = event.data;
    const isAgain = before !== undefined && (before.isReady || before.isAgain);
    const lastEnd = found?.lastEnd;
    const seen = { eventId, eventType, durationInSeconds, resources, notBefore, isAgain, ...(lastEnd && { lastEnd }) };
    // Stored before the work, so that after a crash in the middle there is something to recover.
    await this.#state.set(key, { ...seen, isReady: false });
    const noticed = before !== undefined || eventStatus !== 'Started';
    await prepare(event, { ...context, noticed, again: isAgain });
    await this.#state.set(key, { ...seen, isReady: true });
  }

  /** Recovers what is prepared, and keeps the end. */
  async ended(event: EventOf<'ended'>, context: HandlerContext): Promise<void> {
    const key = keyOf(event);
    const found = await this.#stored(key);
    if (found?.lastEnd !== undefined && !isNewer(event, found.lastEnd)) return;
    if (found !== undefined && isPrepared(found)) await this.#options.recover(event, event.data.outcome, context);
    if (this.#keepEndedMs === 0) return await this.#state.delete(key);
    const nowMs = this.#clock.wallMs();
    await this.#state.set(key, { lastEnd: lastEndOf(event, nowMs + this.#keepEndedMs), isOver: true });
    await this.#state.deleteExpired?.(nowMs);
  }

  /** Returns the stored event without an end whose time is over. */
  async #stored(key: string): Promise<StoredEvent | undefined> {
    const found = await this.#state.get(key);
    if (found?.lastEnd === undefined || this.#clock.wallMs() < found.lastEnd.keptUntilMs) return found;
    if (!isPrepared(found)) return undefined;
    const { lastEnd: _, ...prepared } = found;
    return prepared;
  }

  #isOldNews({ data: { notBefore } }: NoticeEvent): boolean {
    return notBefore !== null && this.#clock.wallMs() - Date.parse(notBefore) > this.#staleAfterMs;
  }
}

/**
 * Returns true for what belongs to an occurrence that has ended. An update can only follow what has begun a later one.
 */
function isPassed(change: Notice, event: NoticeEvent, found: StoredEvent): boolean {
  const { lastEnd } = found;
  if (lastEnd === undefined) return false;
  if (change !== 'updated') return !isNewer(event, lastEnd);
  return (!isPrepared(found) && found.isOver) || isOlder(event, lastEnd);
}

/** Returns true if `prepare` has to run again. An event that has started is prepared for at most once. */
function isDue(before: Prepared, { data }: NoticeEvent): boolean {
  return !before.isReady || (data.eventStatus === 'Scheduled' && hasWorsened(before, data));
}

function keyOf({ source, data }: LifeEvent): string {
  return `${source} ${data.eventId.toLowerCase()}`;
}
