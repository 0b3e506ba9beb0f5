// StartRequests and the state → allowed, or the first refusal (behaviour 6.6). Pure.
import type { EventApproval } from '../../model/approvals.ts';
import type { KnownEvent } from '../../model/events.ts';
import { isUpdateId } from '../../model/ids.ts';
import { hasWorsened } from '../../model/worsened.ts';
import type { Governed, GovernedEvent } from '../rules/governed-events.ts';
import { ineligibilityOf, type Rules } from '../rules/quorum.ts';
import type { ApprovalStore } from '../store.ts';
import { type Refusal, refusal } from './answer.ts';
import { keyOf, type StartRequest } from './start-requests.ts';

export interface CheckContext {
  readonly rules: Rules;
  readonly store: Pick<ApprovalStore, 'journal' | 'known'>;
  readonly events: ReadonlyMap<string, KnownEvent>;
  /** The approvals of this occurrence, null without any. */
  readonly approvalOf: (key: string, occurrence: number) => EventApproval | null;
  /** What governs an event that is Scheduled. */
  readonly matterOf: (known: KnownEvent) => GovernedEvent | null;
  /** Whether a StartRequest for it may have been accepted: it is on its way, or its answer was lost. */
  readonly mayBeAccepted: (known: KnownEvent) => boolean;
  /** May release the holds of others, too. */
  readonly isAdmin: (approver: string) => boolean;
  /** When the approval was sent, in milliseconds since 1970; null for one that is asked for now. */
  readonly sentMs: number | null;
}

/** `started`: nothing to record, this approver said yes before the event started. */
export type Checked = { readonly kind: 'recordable' | 'started'; readonly request: StartRequest; readonly known: KnownEvent };

/** All of them, or the first refusal. */
export function authorizeVotes(approver: string, requests: readonly StartRequest[], context: CheckContext): readonly Checked[] | Refusal {
  const checked: Checked[] = [];
  for (const request of requests) {
    const found = checkOne(approver, request, context);
    if (found.kind === 'refusal') return found;
    checked.push(found);
  }
  return checked;
}

/**
 * What this bridge may read later than the message: the event, the update of it that `Seen` names, which another bridge read first, or the answer
 * to a StartRequest.
 */
export type MayCome = 'event' | 'update' | 'answer';

/**
 * What may still come so that these requests are not refused any more; null where nothing can. An event: the service does not list it, or not
 * again since it ended, and the approval is newer than that end. An update: `Seen` is an id that this event's next one can have. An answer: a
 * StartRequest is on its way.
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

/** In this order (behaviour 6.6): unknown, ended, started, scope; then each `Seen`. */
function checkOne(approver: string, request: StartRequest, context: CheckContext): Checked | Refusal {
  const found = findScheduled(request, context);
  if (found.kind === 'refusal') {
    const known = context.events.get(request.key);
    const votes = found.type === 'started' && known ? (context.approvalOf(known.key, known.occurrence)?.votes ?? []) : [];
    return known && votes.some((vote) => vote.approver === approver) ? { kind: 'started', request, known } : found;
  }
  const { known } = found;
  return barred(approver, request, found, context) ?? unseen(request, known, context) ?? { kind: 'recordable', request, known };
}

/** An event that is Scheduled, as the service lists it. */
export interface FoundEvent {
  readonly kind: 'found';
  readonly known: KnownEvent;
  readonly governed: Governed;
}

/** The event that a request names; unknown, ended, old or started ones are refused. */
export function findScheduled({ eventId, key }: Pick<StartRequest, 'eventId' | 'key'>, context: CheckContext): FoundEvent | Refusal {
  const known = context.events.get(key);
  if (known === undefined) {
    return context.store.known.lastEndedMs(key) !== null
      ? refusal('ended', `The event ${eventId} has ended; there is nothing left to approve.`, eventId)
      : refusal('unknown', `The metadata service lists no event ${eventId}; look at GET /v1/events for those that it lists.`, eventId);
  }
  if (isOld(key, context))
    return refusal('old', `The approval was sent before an earlier event ${eventId} ended; look at the event anew.`, eventId);
  const matter = context.matterOf(known);
  if (matter === null) return refusal('started', `The event ${eventId} has started already; there is nothing left to approve.`, eventId);
  return { kind: 'found', known, governed: matter.governed };
}

/** Sent before the last end of this event: meant for an occurrence that is over. */
function isOld(key: string, { store, sentMs }: Pick<CheckContext, 'store' | 'sentMs'>): boolean {
  return sentMs !== null && sentMs < (store.known.lastEndedMs(key) ?? Number.NEGATIVE_INFINITY);
}

function barred(approver: string, { eventId }: StartRequest, { known, governed }: FoundEvent, { rules }: CheckContext): Refusal | null {
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
    `${approver} is none of the approvers whose yes is required for ${eventId}, so it cannot approve it.`,
    eventId,
  );
}

/** This bridge posts nothing for this event, so there is nothing to hold either. */
export function neverRefusal(eventId: string, { event }: KnownEvent, { ruling }: Governed): Refusal {
  const why =
    ruling.policy === null
      ? `is a ${event.eventType}, which is never approved`
      : `is never approved, as ${ruling.policy} of the bridge says`;
  return refusal('forbidden', `The event ${eventId} ${why}.`, eventId);
}

function unseen({ eventId, key, seen }: StartRequest, known: KnownEvent, { store }: CheckContext): Refusal | null {
  for (const id of seen) {
    const told = store.journal.seen(id);
    if (told === null || told.key !== key || (told.change !== 'scheduled' && told.change !== 'updated')) {
      const detail = `Seen is not the id of a scheduled or updated CloudEvent that this bridge made for ${eventId}; send it to the bridge that data.observer names.`;
      return refusal('seen-unknown', detail, eventId);
    }
    if (told.occurrence !== known.occurrence) {
      return refusal('changed', `Seen belongs to an earlier occurrence of ${eventId}, which has ended; look at the event anew.`, eventId);
    }
    if (hasWorsened(told.event, known.event)) {
      return refusal('changed', `The event ${eventId} has got worse since the CloudEvent that Seen names; look at it anew.`, eventId);
    }
  }
  return null;
}
