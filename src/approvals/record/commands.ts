// Commands of an approver → votes and holds, all of one request in one transaction.
import type { ApprovalOrigin, EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { isSameOwner } from '../../model/hold-owner.ts';
import { now } from '../../time/clock.ts';
import type { Refusal } from '../requests/answer.ts';
import { type ApprovalAuthorization, type ApprovalCommand, revokedRefusal } from '../requests/approval-command.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import type { ApprovalTransaction } from '../store.ts';
import type { AuditEntry } from './audit-trail.ts';
import type { RecordParts } from './ledger.ts';
import { withPrepared } from './sink-holds.ts';
import { withHold, withoutHolds, withVote } from './transitions.ts';

export class Commands {
  readonly #parts: RecordParts;

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  /**
   * Records all commands and the writes of `also` in one transaction; writes nothing if no command changes anything and
   * `also` is absent. Every approval, hold and release by HTTP, message or sink is recorded here. The authorization is
   * checked in the turn that records.
   * @returns the refusal if the authorization was revoked (nothing is recorded then), else null
   * @throws BridgeError BRIDGE_STORE_*; nothing is recorded then
   */
  record(
    authorization: ApprovalAuthorization,
    commands: readonly ApprovalCommand[],
    also?: (transaction: ApprovalTransaction) => void,
  ): Refusal | null {
    for (const { known } of commands) {
      const refused = revokedRefusal(authorization, known);
      if (refused !== null) return refused;
    }
    this.#write(authorization.origin, commands, also);
    return null;
  }

  #write(
    origin: ApprovalOrigin,
    commands: readonly ApprovalCommand[],
    also?: (transaction: ApprovalTransaction) => void,
  ): void {
    const { ledger, auditTrail, deps } = this.#parts;
    const at = now(deps);
    const current = new Map<string, EventApproval>();
    const entries = commands.flatMap((command): AuditEntry[] => {
      const { key, occurrence } = command.known;
      const governedEvent = ledger.governedEventOf(command.known);
      const before = current.get(key) ?? ledger.approvalOf(key, occurrence);
      const after = governedEvent && this.#applied(origin, command, before, governedEvent, at);
      if (after === null || after === before) return [];
      current.set(key, after);
      return [auditTrail.entry(command.known, before, after, at, origin)];
    });
    const recorded = auditTrail.pending(entries, () => {
      for (const approval of current.values()) ledger.keep(approval);
    });
    ledger.commit(also === undefined ? [recorded] : [recorded, { isNews: true, write: also, apply: () => {} }]);
  }

  #applied(
    origin: ApprovalOrigin,
    command: ApprovalCommand,
    before: EventApproval | null,
    governedEvent: GovernedEvent,
    at: Instant,
  ): EventApproval | null {
    const { rules } = this.#parts;
    if (command.kind === 'vote')
      return withVote(rules, before, governedEvent, { ...origin, hasSeen: command.hasSeen }, at);
    if (command.kind === 'hold') {
      return withHold(rules, before, governedEvent, {
        ...origin,
        reason: command.reason,
        at,
        sentMs: command.sentMs,
        replaced: null,
      });
    }
    if (command.kind === 'prepared') return withPrepared(rules, before, governedEvent, origin, at);
    return (
      before &&
      withoutHolds(rules, before, governedEvent, (hold) => command.holds.some((each) => isSameOwner(each, hold)), at)
    );
  }
}
