// A checked request → the command to record; who sends it, and whether it may still act.
import type { ApprovalHold, ApprovalOrigin } from '../../model/approvals.ts';
import type { KnownEvent, ScheduledEvent } from '../../model/events.ts';
import { type Refusal, refusal } from './answer.ts';

/** A checked request of an approver. If there are several for one event, holds come first. */
export type ApprovalCommand =
  | {
      readonly kind: 'hold';
      readonly known: KnownEvent;
      readonly reason: string | null;
      readonly sentMs: number | null;
    }
  | { readonly kind: 'release'; readonly known: KnownEvent; readonly holds: readonly ApprovalHold[] }
  /** From a sink that has finished its preparation: a vote that also releases its own hold. */
  | { readonly kind: 'prepared'; readonly known: KnownEvent }
  | { readonly kind: 'vote'; readonly known: KnownEvent; readonly hasSeen: boolean };

/** An approver, and the proof, source or sink that acts in its name. */
export interface ApprovalAuthorization {
  readonly origin: ApprovalOrigin;
  /**
   * Returns whether the current configuration still lets the origin act for its approver and this event. Synchronous,
   * and called in the turn that records, so that no right can be revoked in between.
   */
  readonly isValid: (event: ScheduledEvent) => boolean;
}

/** Returns the refusal for an authorization that was revoked, or null if it is still valid. */
export function revokedRefusal(
  { origin: { approver, via }, isValid }: ApprovalAuthorization,
  { event }: KnownEvent,
): Refusal | null {
  if (isValid(event)) return null;
  const detail = `${via} may no longer act for ${approver}: the configuration has changed.`;
  return refusal('forbidden', detail, event.eventId);
}
