// An approval's step and its event → the change that reports it, with an unused id.

import type { ApprovalChange, ApprovalPhase } from '../../model/events.ts';
import { approvalChangeId, unusedId } from '../../model/ids.ts';
import { type Deps, now } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';
import { keyOf } from '../requests/start-requests.ts';
import type { ApprovalStore } from '../store.ts';

export interface ChangeContext {
  readonly observerId: string;
  /** Whether a CloudEvent id has been used before. */
  readonly isUsed: (id: string) => boolean;
}

/** Its id is unused as long as no other change of the same phase, event and approver is made before it is stored. */
export function approvalChange(
  phase: ApprovalPhase,
  told: Omit<ApprovalChange, 'kind' | 'phase' | 'id'>,
  { observerId, isUsed }: ChangeContext,
): ApprovalChange {
  const id = unusedId(approvalChangeId(phase, told.key, told.approver, observerId), isUsed);
  return { kind: 'approval', phase, id, ...told };
}

/** The `approval.failed` of an approval that was refused before it was recorded. `eventId` as its sender wrote it. */
export function refusedChange(
  { approver, eventId: asWritten, reason }: { readonly approver: string; readonly eventId: string; readonly reason: string },
  {
    store,
    ports,
    deps,
  }: { readonly store: Pick<ApprovalStore, 'journal'>; readonly ports: Pick<ApprovalPorts, 'events' | 'observerId'>; readonly deps: Deps },
): ApprovalChange {
  const key = keyOf(asWritten);
  const { occurrence = null, event = null } = ports.events().get(key) ?? {};
  const eventId = event?.eventId ?? asWritten.toWellFormed();
  const context = { observerId: ports.observerId(), isUsed: (id: string) => store.journal.isUsed(id) };
  return approvalChange('failed', { key, eventId, occurrence, event, approver, policy: null, reason, at: now(deps) }, context);
}
