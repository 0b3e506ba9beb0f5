// One StartRequest and what is known → whether it may be recorded, or why not (contract, section 6). Pure; the first refusal decides.
import type { EventApproval, KnownEvent } from '../model.ts';
import { type Refusal, refusal } from './answer.ts';
import type { ApprovalStore } from './approval-store.ts';
import { barOf, type Rules } from './quorum.ts';
import type { StartRequest } from './start-requests.ts';
import { worse } from './worse.ts';

export interface CheckContext {
  readonly rules: Rules;
  readonly store: Pick<ApprovalStore, 'seen' | 'hasEnded'>;
  readonly events: ReadonlyMap<string, KnownEvent>;
  /** The approvals of this occurrence, null without any. */
  readonly approvalOf: (key: string, occurrence: number) => EventApproval | null;
}

/** `started`: nothing to record, this approver said yes before the event started. */
export type Checked = { readonly kind: 'recordable' | 'started'; readonly known: KnownEvent };

/** In the contract's order: unknown, ended, started, scope; then each `Seen`. */
export function check(approver: string, request: StartRequest, context: CheckContext): Checked | Refusal {
  const { eventId, key } = request;
  const known = context.events.get(key);
  if (known === undefined) {
    return context.store.hasEnded(key)
      ? refusal('ended', `The event ${eventId} has ended; there is nothing left to approve.`, eventId)
      : refusal('unknown', `The metadata service lists no event ${eventId}; look at GET /v1/events for those that it lists.`, eventId);
  }
  if (known.event.eventStatus === 'Started') {
    const votes = context.approvalOf(key, known.occurrence)?.votes ?? [];
    if (votes.some((vote) => vote.approver === approver)) return { kind: 'started', known };
    return refusal('started', `The event ${eventId} has started already; there is nothing left to approve.`, eventId);
  }
  return barred(approver, request, known, context) ?? unseen(request, known, context) ?? { kind: 'recordable', known };
}

function barred(approver: string, { eventId }: StartRequest, known: KnownEvent, { rules }: CheckContext): Refusal | null {
  const bar = barOf(rules, approver, known.event);
  if (bar === null) return null;
  if (bar === 'scope') {
    return refusal(
      'scope',
      `The scope of ${approver} does not cover all of the event ${eventId}: its type and every name in Resources.`,
      eventId,
    );
  }
  const isOnlyAdvice = typeof rules.required !== 'object' || rules.required.includes(approver);
  return isOnlyAdvice
    ? refusal('forbidden', `The event ${eventId} is a ${known.event.eventType}, which is never approved.`, eventId)
    : refusal('forbidden', `${approver} is none of the approvers that approvals.required lists, so it cannot approve ${eventId}.`, eventId);
}

function unseen({ eventId, key, seen }: StartRequest, known: KnownEvent, { store }: CheckContext): Refusal | null {
  for (const id of seen) {
    const told = store.seen(id);
    if (told === null || told.key !== key || (told.change !== 'scheduled' && told.change !== 'updated')) {
      const detail = `Seen is not the id of a scheduled or updated CloudEvent that this bridge made for ${eventId}; send it to the bridge that data.observer names.`;
      return refusal('seen-unknown', detail, eventId);
    }
    if (told.occurrence !== known.occurrence) {
      return refusal('changed', `Seen belongs to an earlier occurrence of ${eventId}, which has ended; look at the event anew.`, eventId);
    }
    if (worse(told.event, known.event)) {
      return refusal('changed', `The event ${eventId} has got worse since the CloudEvent that Seen names; look at it anew.`, eventId);
    }
  }
  return null;
}
