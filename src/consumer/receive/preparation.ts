// `prepare` and `recover` → handlers that call each once for an event (protocol 5.0).
import { hasWorsened } from '../../model/worsened.ts';
import type { EventOf } from '../event.ts';
import type { HandlerContext, Handlers } from './handlers.ts';
import { memoryState, type Prepared, type PreparedState } from './prepared-state.ts';

/** The change that reported it: `scheduled`, `updated` or `started`. */
export type NoticeEvent = EventOf<'scheduled' | 'updated' | 'started'>;

export interface PrepareContext extends HandlerContext {
  /** False where the event is first seen `Started`: it is too late to prepare or approve, only to make things safe. */
  readonly noticed: boolean;
  /** True where it was prepared before and has got worse since: an approval given then is void, approve again. */
  readonly again: boolean;
}

export interface PreparationOptions {
  /**
   * Called once for each event, and again where it has got worse, or where it failed. Throws where it could not prepare: the event comes again.
   */
  readonly prepare: (event: NoticeEvent, context: PrepareContext) => unknown;
  /** Called once when an event is gone that was prepared, in part at least: with `canceled` it has not happened. */
  readonly recover: (event: EventOf<'ended'>, outcome: EventOf<'ended'>['data']['outcome'], context: HandlerContext) => unknown;
  /** Which events to prepare for; all where absent. */
  readonly concerns?: (event: NoticeEvent) => boolean;
  /** In memory where absent. */
  readonly state?: PreparedState;
}

/** Spread it into the handlers of a receiver or dispatcher. */
export type PreparationHandlers = Required<Pick<Handlers, 'onScheduled' | 'onUpdated' | 'onStarted' | 'onEnded'>>;

export function preparation(options: PreparationOptions): PreparationHandlers {
  const { prepare, recover, concerns = () => true, state = memoryState() } = options;

  const look = async (event: NoticeEvent, context: HandlerContext): Promise<void> => {
    if (!concerns(event)) return;
    const key = keyOf(event);
    const before = await state.get(key);
    if (before !== undefined && !isDue(before, event)) return;
    const { eventId, eventType, durationInSeconds, resources, notBefore, eventStatus } = event.data;
    const isAgain = before !== undefined && (before.isReady || before.isAgain);
    const seen = { eventId, eventType, durationInSeconds, resources, notBefore, isAgain };
    // Kept before the work, too: after a crash in the middle there is something to recover.
    await state.set(key, { ...seen, isReady: false });
    const noticed = before !== undefined || eventStatus !== 'Started';
    await prepare(event, { ...context, noticed, again: isAgain });
    await state.set(key, { ...seen, isReady: true });
  };

  return {
    onScheduled: look,
    onUpdated: look,
    onStarted: look,
    onEnded: async (event, context) => {
      const key = keyOf(event);
      if ((await state.get(key)) === undefined) return;
      await recover(event, event.data.outcome, context);
      await state.delete(key);
    },
  };
}

/** What runs already is prepared for once at most. */
function isDue(before: Prepared, { data }: NoticeEvent): boolean {
  return !before.isReady || (data.eventStatus === 'Scheduled' && hasWorsened(before, data));
}

function keyOf({ source, data }: NoticeEvent | EventOf<'ended'>): string {
  return `${source} ${data.eventId.toLowerCase()}`;
}
