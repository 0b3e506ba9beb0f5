// What a checked request asks of the record: a hold, a release or a yes.
import type { ApprovalHold } from '../../model/approvals.ts';
import type { KnownEvent } from '../../model/events.ts';

/** What an approver asked for, checked. Of several for one event, holds come first. */
export type ApprovalCommand =
  | { readonly kind: 'hold'; readonly known: KnownEvent; readonly reason: string | null; readonly sentMs: number | null }
  | { readonly kind: 'release'; readonly known: KnownEvent; readonly holds: readonly ApprovalHold[] }
  /** Said by a sink that has done its part: a yes that ends its own hold. */
  | { readonly kind: 'prepared'; readonly known: KnownEvent }
  | { readonly kind: 'vote'; readonly known: KnownEvent; readonly hasSeen: boolean };
