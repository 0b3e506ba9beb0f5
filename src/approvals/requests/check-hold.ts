// A hold, release or message and the state → commands, or a refusal (behaviour 6.6, 8.8, 8.11).

import { ALL_EVENTS, type ApprovalHold, type EventApproval, type HoldOfAll } from '../../model/approvals.ts';
import { isOfAll } from '../../model/hold-owner.ts';
import { type Refusal, refusal } from './answer.ts';
import type { ApprovalCommand } from './approval-command.ts';
import { authorizeVotes, type CheckContext, findScheduled, neverRefusal, votesOf } from './check.ts';
import type { HoldRequest, ReleaseRequest } from './hold-requests.ts';
import type { MessageRequests } from './message-requests.ts';

/**
 * Returns the command for a hold, or a refusal. The checks are those for approvals, with two differences: it is enough
 * that the scope touches the event, and approvers who are not required may hold too. The last check is 409
 * `submitting`.
 */
export function authorizeHold(
  approver: string,
  request: HoldRequest,
  context: CheckContext,
): ApprovalCommand | Refusal {
  if (request.key === ALL_EVENTS) return onlyByHttp();
  const found = findScheduled(request, context);
  if (found.kind === 'refusal') return found;
  const { eventId, reason } = request;
  const { known, governed } = found;
  if (isSubmitted(context.approvalOf(known.key, known.occurrence))) {
    const detail = `The metadata service has accepted the approval of ${eventId}, which cannot be taken back; there is nothing left to hold.`;
    return refusal('submitted', detail, eventId);
  }
  if (governed.ruling.then === 'never') return neverRefusal(eventId, known, governed);
  if (!context.rules.scopes.get(approver)?.touches(known.event)) {
    return refusal(
      'scope',
      `The scope of ${approver} does not touch the event ${eventId}: its type and any name in Resources.`,
      eventId,
    );
  }
  return context.mayBeAccepted(known) ? submitting(eventId) : { kind: 'hold', known, reason, sentMs: context.sentMs };
}

/** The metadata service may already have accepted a StartRequest, so the bridge cannot promise a hold. */
function submitting(eventId: string): Refusal {
  const detail = `A StartRequest for ${eventId} was sent and the metadata service may have accepted it: its answer is missing. No hold was set; try again.`;
  return refusal('submitting', detail, eventId);
}

/**
 * Returns the command for a release, or a refusal. A caller may release its own hold. An admin may release any: the
 * hold of `holder`, else its own, else all of the event. Holds set after `beforeMs` stay. If an admin names no holder,
 * holds set after the release was sent also stay.
 */
export function authorizeRelease(
  approver: string,
  { eventId, key, holder, beforeMs = null }: ReleaseRequest,
  context: CheckContext,
): ApprovalCommand | Refusal {
  if (key === ALL_EVENTS) return onlyByHttp();
  const found = findScheduled({ eventId, key }, context);
  if (found.kind === 'refusal') return found;
  const { known } = found;
  const all = context.approvalOf(known.key, known.occurrence)?.holds ?? [];
  const holds = all.filter((hold) => !isOfAll(hold));
  if (holds.length < all.length && holds.length === 0) return onlyWithAll(eventId);
  const standing = [...new Set(holds.map((hold) => hold.approver))];
  const target = holder ?? approver;
  const isOthers = holder === null ? !standing.includes(approver) && standing.length > 0 : holder !== approver;
  const isAdmin = context.isAdmin(approver);
  if (isOthers && !isAdmin) {
    return refusal(
      'forbidden',
      `${approver} does not hold ${eventId}. Only its holders and an admin can release it.`,
      eventId,
    );
  }
  const meant = standing.includes(target) ? [target] : holder === null ? standing : [];
  if (meant.length === 0)
    return refusal(
      'not-held',
      `${target} does not hold ${eventId}. GET /v1/approvals/EVENT_ID lists its holders.`,
      eventId,
    );
  const sentMs = holder === null && isAdmin ? context.sentMs : null;
  const released = holds.filter((hold) => meant.includes(hold.approver) && wasThere(hold, beforeMs, sentMs));
  if (released.length > 0) return { kind: 'release', known, holds: released };
  return refusal(
    'changed',
    `The current holds of ${eventId} were set after this release was sent. Check the event again.`,
    eventId,
  );
}

function onlyByHttp(): Refusal {
  const detail =
    'A hold of everything is set with POST /v1/holds and released with DELETE /v1/holds/*, by an admin; a message of a source cannot.';
  return refusal('forbidden', detail, ALL_EVENTS);
}

function onlyWithAll(eventId: string): Refusal {
  const detail = `Only the hold of everything holds ${eventId}. An admin releases it with DELETE /v1/holds/* or \`release --all\`.`;
  return refusal('not-held', detail, eventId);
}

/** What decides whether an approver may set or release the hold of everything. */
type AllContext = Pick<CheckContext, 'isAdmin'>;

/** Returns the refusal for a hold of everything, or null if the approver may set it. */
export function allRefusal(approver: string, { isAdmin }: AllContext): Refusal | null {
  if (isAdmin(approver)) return null;
  const detail = `${approver} is no admin. Only an approver with \`admin: true\` can hold everything and release that hold.`;
  return refusal('not-admin', detail, ALL_EVENTS);
}

/** Returns the refusal for the release of the hold of everything, or null. `holder` and `beforeMs` as in a release. */
export function allReleaseRefusal(
  approver: string,
  { holder, beforeMs = null }: Pick<ReleaseRequest, 'holder' | 'beforeMs'>,
  holdOfAll: HoldOfAll | null,
  context: AllContext,
): Refusal | null {
  const denied = allRefusal(approver, context);
  if (denied !== null) return denied;
  if (holdOfAll === null) return refusal('not-held', 'No hold of everything stands.', ALL_EVENTS);
  const { by, at } = holdOfAll;
  if (holder !== null && holder !== by)
    return refusal('not-held', `${holder} does not hold everything: ${by} does.`, ALL_EVENTS);
  if (beforeMs === null || at.wallMs <= beforeMs) return null;
  return refusal('changed', 'The hold of everything was set after this release was sent. Check it again.', ALL_EVENTS);
}

/** Returns all commands, or the first refusal. Holds come before votes, so that a message with both posts nothing. */
export function authorizeMessage(
  approver: string,
  { starts, holds, releases }: MessageRequests,
  context: CheckContext,
): readonly ApprovalCommand[] | Refusal {
  const votes = authorizeVotes(approver, starts, context);
  if ('kind' in votes) return votes;
  const results = [
    ...holds.map((request) => authorizeHold(approver, request, context)),
    ...releases.map((request) => authorizeRelease(approver, request, context)),
  ];
  const refused = results.find((result) => result.kind === 'refusal');
  return refused ?? [...results.filter((result) => result.kind !== 'refusal'), ...votesOf(votes)];
}

/**
 * Whether a hold was set before `beforeMs`, and before the release was sent. For messages, the time of sending counts.
 */
function wasThere({ at, sentMs: setMs }: ApprovalHold, beforeMs: number | null, sentMs: number | null): boolean {
  return (beforeMs === null || at.wallMs <= beforeMs) && (sentMs === null || (setMs ?? at.wallMs) <= sentMs);
}

function isSubmitted(approval: EventApproval | null): boolean {
  return approval?.state === 'submitted' || approval?.state === 'confirmed';
}
