// An approver and its proof, source or sink → whether it may still act when a command is recorded.
import type { ApprovalOrigin } from '../../model/approvals.ts';
import type { KnownEvent, ScheduledEvent } from '../../model/events.ts';
import { type Refusal, refusal } from './answer.ts';

/** An approver, and the proof, source or sink that acts in its name. */
export interface Authorization {
  readonly origin: ApprovalOrigin;
  /**
   * Returns whether the current configuration still lets the origin act for its approver and this event. Synchronous, and called in the
   * turn that records, so that no right can be revoked in between.
   */
  readonly isValid: (event: ScheduledEvent) => boolean;
}

/** Returns the refusal for an authorization that was revoked, or null if it is still valid. */
export function revokedRefusal({ origin: { approver, via }, isValid }: Authorization, { event }: KnownEvent): Refusal | null {
  if (isValid(event)) return null;
  const detail = `${via} may no longer act for ${approver}: the configuration has changed.`;
  return refusal('forbidden', detail, event.eventId);
}
