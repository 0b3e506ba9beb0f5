// Approvals → what the routes serve of them, once documents are handled.
import type { Approvals } from '../approvals/approvals.ts';
import type { Refusal } from '../approvals/requests/answer.ts';
import { BridgeError } from '../errors.ts';
import type { Reply } from './route.ts';
import { problemReply } from './route.ts';

export type ServedApprovals = Pick<
  Approvals,
  'request' | 'answered' | 'hold' | 'release' | 'holdAll' | 'releaseAll' | 'life'
>;

export interface ApprovalRoutePorts {
  /** Returns null until documents are handled (behaviour 4.12). */
  readonly approvals: () => ServedApprovals | null;
}

/** @throws BridgeError BRIDGE_APPROVALS_NOT_READY */
export function ready({ approvals }: ApprovalRoutePorts): ServedApprovals {
  const served = approvals();
  if (served !== null) return served;
  throw new BridgeError(
    'BRIDGE_APPROVALS_NOT_READY',
    'no document has been handled yet; ask again when /readyz says ready',
  );
}

export function refusedReply({ kind: _, ...refused }: Refusal): Reply {
  return problemReply(refused);
}
