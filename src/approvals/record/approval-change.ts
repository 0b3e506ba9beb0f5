// An approval's step and its event → the change that reports it, with an unused id.

import type { ApprovalChange, ApprovalPhase } from '../../model/events.ts';
import { approvalChangeId, unusedId } from '../../model/ids.ts';

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
