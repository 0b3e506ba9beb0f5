// A CloudEvent or EventId → an approval, hold or release, by HTTP, Kafka or Service Bus.

import { isObject } from '../../formats/json-object.ts';
import type { ApprovalResultState } from '../../model/approvals.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { CloudEvent } from '../event.ts';
import type { WebAbortSignal } from '../web-types.ts';

/** The state of an approval. Through a broker it is `sent`, because no answer comes back. */
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
  /** Cancels the call, which then rejects with the signal's reason. */
  readonly signal?: WebAbortSignal;
}

export interface ApproveOptions extends CallOptions {
  /**
   * The id of the CloudEvent that the approval answers; if absent, that of the given `scheduled` or `updated` event.
   * Null for none.
   */
  readonly seen?: string | null;
}

export interface ReleaseOptions extends CallOptions {
  /**
   * The approver whose hold is released. If absent, your own or, for an admin without a hold, all of the event: an
   * admin should name one. If a release is retried over HTTP, it does not lift holds that were set after the first
   * attempt.
   */
  readonly holder?: string;
}

/**
 * Approves, holds and releases events at a bridge. Each call rejects with a ConsumerError: `refused` with the bridge's
 * `type` and `status`, `unreachable` if the bridge cannot be reached in time, `not-sent` if a broker fails; or with the
 * signal's reason.
 */
export interface Approver {
  /**
   * Lets the event start at once, for every machine in its Resources. Safe to repeat. Give the CloudEvent instead of
   * the id, so that the approval is refused if the event got worse.
   */
  approve(event: CloudEvent | string, options?: ApproveOptions): Promise<ApprovalResult>;
  /** The bridge submits nothing for the event until the hold is released. A second call replaces the reason. */
  hold(event: CloudEvent | string, reason: string, options?: CallOptions): Promise<void>;
  /** Releases a hold. After the last release the bridge posts what has been decided. */
  release(event: CloudEvent | string, options?: ReleaseOptions): Promise<void>;
}

/** An approval, hold or release to send. */
export interface ApprovalOrder {
  readonly kind: 'approval' | 'hold' | 'release';
  readonly eventId: string;
  /** The key of the order at a broker. */
  readonly key: string;
  /** The body for the bridge. A release has one only as a message; over HTTP the URL has its values. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends to a bridge. */
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
        {
          kind: 'release',
          ...names,
          body: { EventId: names.eventId, ...(holder !== undefined && { approver: holder }) },
        },
        options,
      );
    },
  };
}

/** `Seen` accepts only the CloudEvents that show the content of an event. */
const SEEN = /\.(scheduled|updated)\.v1$/;

function namesOf(event: CloudEvent | string): {
  readonly eventId: string;
  readonly key: string;
  readonly seen: string | null;
} {
  const eventId = typeof event === 'string' ? event : isObject(event.data) ? event.data['eventId'] : undefined;
  if (typeof eventId !== 'string' || eventId === '')
    throw new ConsumerError(
      'usage',
      'name a scheduled event: by its EventId, or by a CloudEvent whose data has an eventId',
    );
  if (typeof event === 'string') return { eventId, key: eventId.toLowerCase(), seen: null };
  return { eventId, key: event.partitionkey ?? eventId.toLowerCase(), seen: SEEN.test(event.type) ? event.id : null };
}
