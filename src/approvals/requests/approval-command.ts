// A checked request → the command to record: a hold, a release or a vote.
import type { ApprovalHold } from '../../model/approvals.ts';
import type { KnownEvent } from '../../model/events.ts';

/** A checked request of an approver. If there are several for one event, holds come first. */
export type ApprovalCommand =
  | { readonly kind: 'hold'; readonly known: KnownEvent; readonly reason: string | null; readonly sentMs: number | null }
  | { readonly kind: 'release'; readonly known: KnownEvent; readonly holds: readonly ApprovalHold[] }
  /** From a sink that has finished its preparation: a vote that also releases its own hold. */
  | { readonly kind: 'prepared'; readonly known: KnownEvent }
  | { readonly kind: 'vote'; readonly known: KnownEvent; readonly hasSeen: boolean };
