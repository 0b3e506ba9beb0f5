// Who sent an approval or hold → the sink or source it came through; whether two have one owner.
import type { ApprovalOrigin } from './approvals.ts';

/** Before the name of a sink or source in `ApprovalOrigin.via`. */
const SINK = 'sink:';
const SOURCE = 'source:';

/** `ApprovalOrigin.via` of a hold that the hold of everything has set, and of its release. */
export const VIA_ALL = 'all';

type Origin = Pick<ApprovalOrigin, 'approver' | 'via'>;

/** Returns `ApprovalOrigin.via` for a sink that acts in the name of its approver. */
export function viaSink(sink: string): string {
  return `${SINK}${sink}`;
}

/** Returns the name of the sink, or null if the approver itself acted. */
export function sinkOf({ via }: Pick<Origin, 'via'>): string | null {
  return via.startsWith(SINK) ? via.slice(SINK.length) : null;
}

/** Returns `ApprovalOrigin.via` for a message of this source. */
export function viaSource(source: string): string {
  return `${SOURCE}${source}`;
}

/** Returns the source's name, or null if the origin is not a source. */
export function sourceOf({ via }: Pick<Origin, 'via'>): string | null {
  return via.startsWith(SOURCE) ? via.slice(SOURCE.length) : null;
}

/** Returns true for the hold that a hold of everything sets on each event. */
export function isOfAll({ via }: Pick<Origin, 'via'>): boolean {
  return via === VIA_ALL;
}

/**
 * Returns true if both are the approver itself, the same sink of the same approver, or the hold of everything of the
 * same approver. Each of these has its own hold.
 */
export function isSameOwner(one: Origin, other: Origin): boolean {
  return one.approver === other.approver && sinkOf(one) === sinkOf(other) && isOfAll(one) === isOfAll(other);
}
