// `prepare` and `recover` → handlers that call each of them once for an event (protocol 5.0).
import { hasWorsened } from '../../model/worsened.ts';
import type { EventOf } from '../event.ts';
import type { HandlerContext, Handlers } from './handlers.ts';
import { memoryState, type Prepared, type PreparedState } from './prepared-state.ts';

/** The CloudEvent to prepare for: `scheduled`, `updated` or `started`. */
export type NoticeEvent = EventOf<'scheduled' | 'updated' | 'started'>;

export interface PrepareContext extends HandlerContext {
  /** False if the event was already `Started` when the first CloudEvent came. It is then too late to approve. */
  readonly noticed: boolean;
  /** True if it was prepared before and has got worse since then. An earlier approval is void, so approve again. */
  readonly again: boolean;
}

export interface PreparationOptions {
  /**
   * Called once for each event, and again if the event got worse or the last call failed. It throws if it cannot prepare: the event comes
   * again.
   */
  readonly prepare: (event: NoticeEvent, context: PrepareContext) => unknown;
  /** Called once when an event is gone that was prepared, at least in part. With `canceled` it did not happen. */
  readonly recover: (event: EventOf<'ended'>, outcome: EventOf<'ended'>['data']['outcome'], context: HandlerContext) => unknown;
  /** Returns true for the events to prepare for; all if absent. */
  readonly concerns?: (event: NoticeEvent) => boolean;
  /** Keeps the prepared events; in memory if absent. */
  readonly state?: PreparedState;
}

/** Handlers to spread into those of a receiver or dispatcher. */
export type PreparationHandlers = Required<Pick<Handlers, 'onScheduled' | 'onUpdated' | 'onStarted' | 'onEnded'>>;

export function preparation(options: PreparationOptions): PreparationHandlers {
  const { prepare, recover, concerns = () => true, state = memoryState() } = options;

  const prepareIfDue = async (event: NoticeEvent, context: HandlerContext): Promise<void> => {
    if (!concerns(event)) return;
    const key = keyOf(event);
    const before = await state.get(key);
    if (before !== undefined && !isDue(before, event)) return;
    const { eventId, eventType, durationInSeconds, resources, notBefore, eventStatus } = event.data;
    const isAgain = before !== undefined && (before.isReady || before.isAgain);
    const seen = { eventId, eventType, durationInSeconds, resources, notBefore, isAgain };
    // Stored before the work, so that after a crash in the middle there is something to recover.
    await state.set(key, { ...seen, isReady: false });
    const noticed = before !== undefined || eventStatus !== 'Started';
    await prepare(event, { ...context, noticed, again: isAgain });
    await state.set(key, { ...seen, isReady: true });
  };

  return {
    onScheduled: prepareIfDue,
    onUpdated: prepareIfDue,
    onStarted: prepareIfDue,
    onEnded: async (event, context) => {
      const key = keyOf(event);
      if ((await state.get(key)) === undefined) return;
      await recover(event, event.data.outcome, context);
      await state.delete(key);
    },
  };
}

/** Returns true if `prepare` has to run again. An event that has started is prepared for at most once. */
function isDue(before: Prepared, { data }: NoticeEvent): boolean {
  return !before.isReady || (data.eventStatus === 'Scheduled' && hasWorsened(before, data));
}

function keyOf({ source, data }: NoticeEvent | EventOf<'ended'>): string {
  return `${source} ${data.eventId.toLowerCase()}`;
}
