// Who spoke for an approval → whether a sink did, and whether two holds are one and the same.
import type { ApprovalOrigin } from './approvals.ts';

/** In front of its name in `ApprovalOrigin.via`. */
const SINK = 'sink:';

type Origin = Pick<ApprovalOrigin, 'approver' | 'via'>;

/** `ApprovalOrigin.via` of what a sink says in the name of its approver. */
export function viaSink(sink: string): string {
  return `${SINK}${sink}`;
}

/** The sink that spoke; null where the approver itself did. */
export function sinkOf({ via }: Pick<Origin, 'via'>): string | null {
  return via.startsWith(SINK) ? via.slice(SINK.length) : null;
}

/** An approver has one hold of its own, and one for each sink that speaks for it. */
export function isSameOwner(one: Origin, other: Origin): boolean {
  return one.approver === other.approver && sinkOf(one) === sinkOf(other);
}
