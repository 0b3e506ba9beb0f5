// An approver, and what acts in its name → whether that is still allowed when it is recorded.
import type { ApprovalOrigin } from '../../model/approvals.ts';
import type { KnownEvent, ScheduledEvent } from '../../model/events.ts';
import { type Refusal, refusal } from './answer.ts';

/** An approver, and the proof, source or sink that acts in its name. */
export interface Authorization {
  readonly origin: ApprovalOrigin;
  /**
   * Returns whether the configuration in force still lets the origin act for its approver, for this event. Asked in the turn that records, so
   * that no right can be revoked in between. Never waits.
   */
  readonly isValid: (event: ScheduledEvent) => boolean;
}

/** Returns the refusal for an authorization that was revoked, or null if it is still valid. */
export function revokedRefusal({ origin: { approver, via }, isValid }: Authorization, { event }: KnownEvent): Refusal | null {
  if (isValid(event)) return null;
  const detail = `${via} may no longer act for ${approver}: the configuration has changed.`;
  return refusal('forbidden', detail, event.eventId);
}
