// StartRequests and the state → allowed, or the first refusal (behaviour 6.6). Pure.
import type { EventApproval } from '../../model/approvals.ts';
import type { KnownEvent } from '../../model/events.ts';
import { isUpdateId } from '../../model/ids.ts';
import { hasWorsened } from '../../model/worsened.ts';
import type { Governed, GovernedEvent } from '../rules/governed.ts';
import { ineligibilityOf, type Rules } from '../rules/quorum.ts';
import type { ApprovalStore } from '../store.ts';
import { type Refusal, refusal } from './answer.ts';
import type { ApprovalCommand } from './approval-command.ts';
import { keyOf, type StartRequest } from './start-requests.ts';

export interface CheckContext {
  readonly rules: Rules;
  readonly store: Pick<ApprovalStore, 'journal' | 'known'>;
  readonly events: ReadonlyMap<string, KnownEvent>;
  readonly approvalOf: (key: string, occurrence: number) => EventApproval | null;
  readonly governedEventOf: (known: KnownEvent) => GovernedEvent | null;
  /** Whether a StartRequest for the event may have been accepted: it is in flight, or its answer was lost. */
  readonly mayBeAccepted: (known: KnownEvent) => boolean;
  /** Whether an approver may also release the holds of others. */
  readonly isAdmin: (approver: string) => boolean;
  /** When the message was sent, in milliseconds since 1970; null for a request that is made now. */
  readonly sentMs: number | null;
}

/** `started`: the event has started after this approver approved it, so there is nothing to record. */
export type Checked = {
  readonly kind: 'recordable' | 'started';
  readonly request: StartRequest;
  readonly known: KnownEvent;
};

/** Returns all checked requests, or the first refusal. */
export function authorizeVotes(
  approver: string,
  requests: readonly StartRequest[],
  context: CheckContext,
): readonly Checked[] | Refusal {
  const checked: Checked[] = [];
  for (const request of requests) {
    const found = checkOne(approver, request, context);
    if (found.kind === 'refusal') return found;
    checked.push(found);
  }
  return checked;
}

/** Returns the votes to record. Leaves out events that started after this approver had approved them. */
export function votesOf(checked: readonly Checked[]): readonly ApprovalCommand[] {
  return checked.flatMap(({ kind, known, request: { seen } }): ApprovalCommand[] =>
    kind === 'started' ? [] : [{ kind: 'vote', known, hasSeen: seen.length > 0 }],
  );
}

/**
 * What the bridge may receive after the message: the event, the update that `Seen` names (another bridge read it
 * first), or the answer to a StartRequest.
 */
export type MayCome = 'event' | 'update' | 'answer';

/**
 * Returns what may still arrive so that these requests are no longer refused, or null if nothing can:
 * - `event`: the metadata service does not list it (again), and the approval is newer than its last end;
 * - `update`: the next update of the event can have the id in `Seen`;
 * - `answer`: a StartRequest is in flight.
 */
export function whatMayCome(
  { type, eventId }: Refusal,
  requests: readonly StartRequest[],
  { store, sentMs }: Pick<CheckContext, 'store' | 'sentMs'>,
): MayCome | null {
  if (eventId === undefined) return null;
  if (type === 'submitting') return 'answer';
  const key = keyOf(eventId);
  if (type === 'unknown' || type === 'ended') return isOld(key, { store, sentMs }) ? null : 'event';
  const isUnread = (id: string) => isUpdateId(id, key) && store.journal.seen(id) === null;
  return type === 'seen-unknown' && requests.some(({ seen }) => seen.some(isUnread)) ? 'update' : null;
}

/** Checks in this order (behaviour 6.6): unknown, ended, started, scope; then each `Seen`. */
function checkOne(approver: string, request: StartRequest, context: CheckContext): Checked | Refusal {
  const found = findScheduled(request, context);
  if (found.kind === 'refusal') {
    const known = context.events.get(request.key);
    const votes =
      found.type === 'started' && known ? (context.approvalOf(known.key, known.occurrence)?.votes ?? []) : [];
    return known && votes.some((vote) => vote.approver === approver) ? { kind: 'started', request, known } : found;
  }
  const { known } = found;
  return (
    barred(approver, request, found, context) ??
    unseen(request, known, context) ?? { kind: 'recordable', request, known }
  );
}

/** A Scheduled event, as the metadata service lists it. */
interface FoundEvent {
  readonly kind: 'found';
  readonly known: KnownEvent;
  readonly governed: Governed;
}

/** Returns the event that a request names, or a refusal if it is unknown, ended, old or started. */
export function findScheduled(
  { eventId, key }: Pick<StartRequest, 'eventId' | 'key'>,
  context: CheckContext,
): FoundEvent | Refusal {
  const known = context.events.get(key);
  if (known === undefined) {
    return context.store.known.lastEndedMs(key) !== null
      ? refusal('ended', `The event ${eventId} has ended, so there is nothing left to approve.`, eventId)
      : refusal(
          'unknown',
          `The metadata service does not list the event ${eventId}. GET /v1/events shows the listed events.`,
          eventId,
        );
  }
  if (isOld(key, context))
    return refusal(
      'old',
      `The approval was sent before an earlier event ${eventId} ended. Check the event again.`,
      eventId,
    );
  const governedEvent = context.governedEventOf(known);
  if (governedEvent === null)
    return refusal('started', `The event ${eventId} has started already; there is nothing left to approve.`, eventId);
  return { kind: 'found', known, governed: governedEvent.governed };
}

/** Whether the approval was sent before the last end of this event, so that it was for an earlier occurrence. */
function isOld(key: string, { store, sentMs }: Pick<CheckContext, 'store' | 'sentMs'>): boolean {
  return sentMs !== null && sentMs < (store.known.lastEndedMs(key) ?? Number.NEGATIVE_INFINITY);
}

function barred(
  approver: string,
  { eventId }: StartRequest,
  { known, governed }: FoundEvent,
  { rules }: CheckContext,
): Refusal | null {
  const ineligibility = ineligibilityOf(rules, governed.ruling, approver, known.event);
  if (ineligibility === 'never') return neverRefusal(eventId, known, governed);
  if (ineligibility === 'scope') {
    return refusal(
      'scope',
      `The scope of ${approver} does not cover all of the event ${eventId}: its type and every name in Resources.`,
      eventId,
    );
  }
  if (ineligibility === null) return null;
  return refusal(
    'forbidden',
    `${approver} is not in the list of required approvers for ${eventId}, so it cannot approve it.`,
    eventId,
  );
}

/** Returns the refusal for an event that the bridge never approves, and so cannot hold either. */
export function neverRefusal(eventId: string, { event }: KnownEvent, { ruling }: Governed): Refusal {
  const why =
    ruling.policy === null
      ? `is a ${event.eventType}, which is never approved`
      : `is never approved, because of the rule ${ruling.policy}`;
  return refusal('forbidden', `The event ${eventId} ${why}.`, eventId);
}

function unseen({ eventId, key, seen }: StartRequest, known: KnownEvent, { store }: CheckContext): Refusal | null {
  for (const id of seen) {
    const seenEvent = store.journal.seen(id);
    if (
      seenEvent === null ||
      seenEvent.key !== key ||
      (seenEvent.change !== 'scheduled' && seenEvent.change !== 'updated')
    ) {
      const detail = `Seen is not the id of a scheduled or updated CloudEvent that this bridge created for ${eventId}. Send the approval to the bridge that data.observer names.`;
      return refusal('seen-unknown', detail, eventId);
    }
    if (seenEvent.occurrence !== known.occurrence) {
      return refusal(
        'changed',
        `Seen belongs to an earlier occurrence of ${eventId}, which has ended. Check the event again.`,
        eventId,
      );
    }
    if (hasWorsened(seenEvent.event, known.event)) {
      return refusal(
        'changed',
        `The event ${eventId} has got worse since the CloudEvent that Seen names. Check it again.`,
        eventId,
      );
    }
  }
  return null;
}
