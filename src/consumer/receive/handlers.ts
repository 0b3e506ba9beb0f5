// A consumer's handlers by change → the handler of one CloudEvent.
import type { ChangeName } from '../../model/change-names.ts';
import { ConsumerError } from '../consumer-error.ts';
import { type CloudEvent, changeOf, type EventOf } from '../event.ts';
import type { WebAbortSignal } from '../web-types.ts';

/** The second argument of a handler. */
export interface HandlerContext {
  /** Aborts when the dispatcher is closed: end soon, or throw, so that the event comes again. */
  readonly signal: WebAbortSignal;
}

/**
 * The event counts as handled once the returned promise has resolved. If the handler throws or rejects, the event comes
 * again.
 */
export type Handler<Event> = (event: Event, context: HandlerContext) => unknown;

/** All are optional: a change without a handler is acknowledged and ignored. */
export interface Handlers {
  readonly onScheduled?: Handler<EventOf<'scheduled'>>;
  readonly onUpdated?: Handler<EventOf<'updated'>>;
  readonly onStarted?: Handler<EventOf<'started'>>;
  readonly onEnded?: Handler<EventOf<'ended'>>;
  readonly onApprovalRecorded?: Handler<EventOf<'approval.recorded'>>;
  readonly onApprovalSubmitted?: Handler<EventOf<'approval.submitted'>>;
  readonly onApprovalFailed?: Handler<EventOf<'approval.failed'>>;
  readonly onSourceBlind?: Handler<EventOf<'source.blind'>>;
  readonly onSourceRestored?: Handler<EventOf<'source.restored'>>;
  /** CloudEvents of all other types. */
  readonly onOther?: Handler<CloudEvent>;
}

const HANDLER_OF = {
  scheduled: 'onScheduled',
  updated: 'onUpdated',
  started: 'onStarted',
  ended: 'onEnded',
  'approval.recorded': 'onApprovalRecorded',
  'approval.submitted': 'onApprovalSubmitted',
  'approval.failed': 'onApprovalFailed',
  'source.blind': 'onSourceBlind',
  'source.restored': 'onSourceRestored',
} as const satisfies Record<ChangeName, keyof Handlers>;

/** @throws ConsumerError `usage` for an unknown handler, such as a misspelled one */
export function checkHandlers(handlers: Handlers): void {
  const known: readonly string[] = [...Object.values(HANDLER_OF), 'onOther'];
  if (typeof handlers !== 'object' || handlers === null)
    throw new ConsumerError('usage', `handlers must be an object of ${known.join(', ')}`);
  const stray = Object.keys(handlers).find((name) => !known.includes(name));
  if (stray !== undefined) throw new ConsumerError('usage', `there is no handler ${stray}: use ${known.join(', ')}`);
}

/** Returns undefined if there is no handler. */
export function handlerOf(handlers: Handlers, event: CloudEvent, typePrefix: string): Handler<CloudEvent> | undefined {
  const name = changeOf(event, typePrefix);
  // The parser has checked that `data` is what the type promises.
  return (name === null ? handlers.onOther : handlers[HANDLER_OF[name]]) as Handler<CloudEvent> | undefined;
}
