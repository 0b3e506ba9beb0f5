// The hold of everything + each Scheduled event → a hold on it, or its release (behaviour 8.23).
import type { ApprovalOrigin, EventApproval, HoldOfAll } from '../../model/approvals.ts';
import type { Instant, KnownEvent } from '../../model/events.ts';
import { isOfAll, VIA_ALL } from '../../model/hold-owner.ts';
import { now } from '../../time/clock.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import type { Rules } from '../rules/quorum.ts';
import { isPosted } from './approval-state.ts';
import { NO_CHANGE, type Pending, together } from './audit-trail.ts';
import type { RecordParts } from './ledger.ts';
import { withHold, withoutHolds } from './transitions.ts';

/**
 * Returns the approvals with the hold that the hold of everything sets on them, or without it if none stands. Leaves
 * out what nobody may hold: accepted approvals, and events that are never approved.
 */
export function withHoldOfAll(
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  holdOfAll: HoldOfAll | null,
  at: Instant,
): EventApproval | null {
  if (approval !== null && isPosted(approval.state)) return approval;
  const held = holdOfAll === null ? approval : withHoldBy(holdOfAll, rules, approval, governedEvent, at);
  const isStale = ({ approver, via }: { readonly approver: string; readonly via: string }) =>
    isOfAll({ via }) && approver !== holdOfAll?.by;
  return held?.holds.some(isStale) ? withoutHolds(rules, held, governedEvent, isStale, at) : held;
}

function withHoldBy(
  { by, reason }: HoldOfAll,
  rules: Rules,
  approval: EventApproval | null,
  governedEvent: GovernedEvent,
  at: Instant,
): EventApproval | null {
  const isHeld = approval?.holds.some((hold) => isOfAll(hold) && hold.approver === by && hold.reason === reason);
  if (isHeld || governedEvent.governed.ruling.then === 'never') return approval;
  const hold = { approver: by, via: VIA_ALL, isShared: false, reason, at, sentMs: null, replaced: null };
  return withHold(rules, approval, governedEvent, hold);
}

/** Sets and releases the hold of everything, with the holds of all events in one transaction. */
export class HoldOfEverything {
  readonly #parts: RecordParts;

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  /** To be called before the stored approvals are loaded. @throws BridgeError BRIDGE_STORE_* */
  load(): void {
    const { ledger, store, logger } = this.#parts;
    ledger.holdOfAll = store.holdOfAll.load();
    if (ledger.holdOfAll === null) return;
    const { by, reason } = ledger.holdOfAll;
    logger.warn(
      { approver: by, reason },
      'a hold of everything stands: the bridge submits nothing until it is released',
    );
  }

  /** Sets the hold, or replaces the one that stands. @throws BridgeError BRIDGE_STORE_*; nothing is stored then */
  set({ approver: by, via }: ApprovalOrigin, reason: string | null): void {
    const { ledger, deps, logger } = this.#parts;
    const before = ledger.holdOfAll;
    if (before?.by === by && before.reason === reason) return;
    this.#replace({ by, via, at: now(deps), reason }, by);
    logger.warn({ approver: by, reason }, 'everything is held: the bridge submits nothing until it is released');
  }

  /** @throws BridgeError BRIDGE_STORE_*; the hold then stands */
  release({ approver }: ApprovalOrigin): void {
    this.#replace(null, approver);
    this.#parts.logger.warn({ approver }, 'the hold of everything is released');
  }

  #replace(holdOfAll: HoldOfAll | null, operator: string): void {
    const { ledger, ports, deps } = this.#parts;
    const at = now(deps);
    const stored: Pending = {
      isNews: true,
      write: (transaction) => transaction.saveHoldOfAll(holdOfAll, operator, at.wallMs),
      apply: () => {
        ledger.holdOfAll = holdOfAll;
      },
    };
    const events = [...ports.events().values()].map((known) => this.#applied(known, holdOfAll, operator, at));
    ledger.commit([stored, ...events]);
  }

  #applied(known: KnownEvent, holdOfAll: HoldOfAll | null, operator: string, at: Instant): Pending {
    const { rules, ledger, auditTrail } = this.#parts;
    const governedEvent = ledger.governedEventOf(known);
    const before = ledger.approvalOf(known.key, known.occurrence);
    const after = governedEvent && withHoldOfAll(rules, before, governedEvent, holdOfAll, at);
    if (after === null || after === before) return NO_CHANGE;
    const by = { approver: operator, via: VIA_ALL, isShared: false };
    const changed = auditTrail.pending([auditTrail.entry(known, before, after, at, by)], () => ledger.keep(after));
    // A StartRequest may be on its way: the next process must know that too.
    return before?.state === 'submitting' ? together([ledger.answerRecord.doubt(before), changed]) : changed;
  }
}
