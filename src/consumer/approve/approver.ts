// A CloudEvent or EventId → an approval, hold or release, by HTTP, Kafka or Service Bus.

import { isObject } from '../../formats/json-object.ts';
import type { ApprovalResultState } from '../../model/approvals.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { CloudEvent } from '../event.ts';
import type { WebAbortSignal } from '../web-types.ts';

/** Where an approval stands; `sent` through a broker, which cannot tell more. */
export interface ApprovalResult {
  readonly eventId: string;
  readonly state: ApprovalResultState | 'sent';
  /** In the order in which they said yes. */
  readonly approvedBy?: readonly string[];
  /** With `waiting`. */
  readonly waitingFor?: readonly string[];
  /** With `held`. */
  readonly heldBy?: readonly string[];
}

export interface CallOptions {
  /** Gives up, with its reason. */
  readonly signal?: WebAbortSignal;
}

export interface ApproveOptions extends CallOptions {
  /** The id of the CloudEvent that the approval answers; where absent that of a `scheduled` or `updated` event. Null for none. */
  readonly seen?: string | null;
}

export interface ReleaseOptions extends CallOptions {
  /**
   * Whose hold, by the approver's name. Where absent one's own or, for an admin who has none, all of the event: an admin should name it.
   * By HTTP a release that is tried again lifts nothing that was set since the first try.
   */
  readonly holder?: string;
}

/**
 * Says yes, no and yes after all to a bridge. Each rejects with a ConsumerError: `refused` with the bridge's own `type` and `status`,
 * `unreachable` where it cannot be reached for long, `not-sent` where a broker fails; or with the signal's reason.
 */
export interface Approver {
  /** Lets it start at once, for every machine in its Resources. Harmless to repeat. By the event rather than by its id, a change for the worse voids it. */
  approve(event: CloudEvent | string, options?: ApproveOptions): Promise<ApprovalResult>;
  /** Nothing is submitted while a hold stands. Again: the new reason counts. */
  hold(event: CloudEvent | string, reason: string, options?: CallOptions): Promise<void>;
  /** Takes a hold away: with the last one goes out what is decided by then. */
  release(event: CloudEvent | string, options?: ReleaseOptions): Promise<void>;
}

/** What is said, before it goes its way. */
export interface ApprovalOrder {
  readonly kind: 'approval' | 'hold' | 'release';
  readonly eventId: string;
  /** What brokers keep order by. */
  readonly key: string;
  /** As the bridge reads it; of a release only where it is a message, over HTTP the URL says it. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A way to a bridge. */
export interface ApprovalChannel {
  send(order: ApprovalOrder, signal: WebAbortSignal | undefined): Promise<ApprovalResult>;
}

export function createApprover(channel: ApprovalChannel): Approver {
  const send = (order: ApprovalOrder, { signal }: CallOptions) => channel.send(order, signal);
  return {
    approve: async (event, options = {}) => {
      const names = namesOf(event);
      const { seen = names.seen } = options;
      const request = { EventId: names.eventId, ...(seen !== null && { Seen: seen }) };
      return send({ kind: 'approval', ...names, body: { StartRequests: [request] } }, options);
    },
    hold: async (event, reason, options = {}) => {
      const names = namesOf(event);
      await send({ kind: 'hold', ...names, body: { EventId: names.eventId, reason } }, options);
    },
    release: async (event, options = {}) => {
      const names = namesOf(event);
      const { holder } = options;
      await send(
        { kind: 'release', ...names, body: { EventId: names.eventId, ...(holder !== undefined && { approver: holder }) } },
        options,
      );
    },
  };
}

/** Only what tells the content of an event can be `Seen`. */
const SEEN = /\.(scheduled|updated)\.v1$/;

function namesOf(event: CloudEvent | string): { readonly eventId: string; readonly key: string; readonly seen: string | null } {
  const eventId = typeof event === 'string' ? event : isObject(event.data) ? event.data['eventId'] : undefined;
  if (typeof eventId !== 'string' || eventId === '')
    throw new ConsumerError('usage', 'name a scheduled event: by its EventId, or by a CloudEvent whose data has an eventId');
  if (typeof event === 'string') return { eventId, key: eventId.toLowerCase(), seen: null };
  return { eventId, key: event.partitionkey ?? eventId.toLowerCase(), seen: SEEN.test(event.type) ? event.id : null };
}
