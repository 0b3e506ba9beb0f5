// Commands of an approver → votes and holds, all of one request in one transaction.
import type { ApprovalOrigin, EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { isSameOwner } from '../../model/hold-owner.ts';
import { type Deps, now } from '../../time/clock.ts';
import type { Refusal } from '../requests/answer.ts';
import type { ApprovalCommand } from '../requests/approval-command.ts';
import { type Authorization, revokedRefusal } from '../requests/authorization.ts';
import type { GovernedEvent } from '../rules/governed-events.ts';
import type { Rules } from '../rules/quorum.ts';
import type { ApprovalTransaction } from '../store.ts';
import type { AuditEntry, AuditTrail } from './audit-trail.ts';
import type { Ledger } from './ledger.ts';
import type { Pending } from './pending.ts';
import { withPrepared } from './sink-holds.ts';
import { withHold, withoutHolds, withVote } from './transitions.ts';

export interface CommandsParts {
  readonly rules: Rules;
  readonly ledger: Ledger;
  readonly auditTrail: AuditTrail;
  readonly deps: Deps;
}

export class Commands {
  readonly #parts: CommandsParts;

  constructor(parts: CommandsParts) {
    this.#parts = parts;
  }

  /**
   * Records all commands and the writes of `also` in one transaction; writes nothing if no command changes anything and `also` is absent.
   * Every approval, hold and release by HTTP, message or sink is recorded here. The authorization is checked in the turn that records.
   * @returns the refusal if the authorization was revoked (nothing is recorded then), else null
   * @throws BridgeError BRIDGE_STORE_*; nothing is recorded then
   */
  record(
    authorization: Authorization,
    acts: readonly ApprovalCommand[],
    also?: (transaction: ApprovalTransaction) => void,
  ): Refusal | null {
    for (const { known } of acts) {
      const refused = revokedRefusal(authorization, known);
      if (refused !== null) return refused;
    }
    this.#write(authorization.origin, acts, also);
    return null;
  }

  #write(origin: ApprovalOrigin, acts: readonly ApprovalCommand[], also?: (transaction: ApprovalTransaction) => void): void {
    const { ledger, auditTrail, deps } = this.#parts;
    const at = now(deps);
    const current = new Map<string, EventApproval>();
    const entries = acts.flatMap((act): AuditEntry[] => {
      const { key, occurrence } = act.known;
      const matter = ledger.matterOf(act.known);
      const before = current.get(key) ?? ledger.approvalOf(key, occurrence);
      const after = matter && this.#acted(origin, act, before, matter, at);
      if (after === null || after === before) return [];
      current.set(key, after);
      return [auditTrail.entry(act.known, before, after, at, origin)];
    });
    const pending: Pending = {
      isNews: also !== undefined || entries.length > 0,
      write: (transaction) => {
        auditTrail.write(transaction, entries);
        also?.(transaction);
      },
      apply: () => {
        for (const entry of entries) auditTrail.tell(entry);
        for (const approval of current.values()) ledger.keep(approval);
      },
    };
    ledger.commit([pending]);
  }

  #acted(
    origin: ApprovalOrigin,
    act: ApprovalCommand,
    before: EventApproval | null,
    matter: GovernedEvent,
    at: Instant,
  ): EventApproval | null {
    const { rules } = this.#parts;
    if (act.kind === 'vote') return withVote(rules, before, matter, { ...origin, hasSeen: act.hasSeen }, at);
    if (act.kind === 'hold') {
      return withHold(rules, before, matter, { ...origin, reason: act.reason, at, sentMs: act.sentMs, replaced: null });
    }
    if (act.kind === 'prepared') return withPrepared(rules, before, matter, origin, at);
    return before && withoutHolds(rules, before, matter, (hold) => act.holds.some((each) => isSameOwner(each, hold)), at);
  }
}
