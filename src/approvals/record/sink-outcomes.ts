// Outcomes of a sink's deliveries → stored, with the votes of its approver in the same transaction.
import type { Settlement, SinkError } from '../../model/deliveries.ts';
import { viaSink } from '../../model/hold-owner.ts';
import type { Refusal } from '../requests/answer.ts';
import { type ApprovalAuthorization, type ApprovalCommand, revokedRefusal } from '../requests/approval-command.ts';
import type { Checked } from '../requests/check.ts';
import type { StartRequest } from '../requests/start-requests.ts';
import { refusedChange } from './audit-trail.ts';
import type { Commands } from './commands.ts';
import type { RecordParts } from './ledger.ts';

/** A sink whose accepted deliveries may approve events (its key `approve`). */
interface ApprovingSink {
  readonly sink: string;
  readonly approver: string;
}

interface SinkOutcomesParts extends Pick<RecordParts, 'store' | 'ports' | 'deps'> {
  readonly commands: Commands;
  readonly check: (approver: string, request: StartRequest) => readonly Checked[] | Refusal;
  readonly denied: (approver: string, refused: Refusal, sink: string) => void;
}

export class SinkOutcomes {
  readonly #parts: SinkOutcomesParts;

  constructor(parts: SinkOutcomesParts) {
    this.#parts = parts;
  }

  /**
   * Stores everything in one transaction. If a vote is refused, its delivery stays accepted, and an `approval.failed`
   * is published.
   * @throws BridgeError BRIDGE_STORE_*; nothing is stored then
   */
  settle(
    { sink, approver }: ApprovingSink,
    settlements: readonly Settlement[],
    atMs: number,
    error: SinkError | null = null,
  ): void {
    const { store, ports, deps, commands, denied } = this.#parts;
    const origin = { approver, via: viaSink(sink), isShared: false };
    const authorization: ApprovalAuthorization = { origin, isValid: (event) => ports.isAuthorized(origin, event) };
    const checked = settlements.flatMap((settlement) => this.#checked(authorization, settlement));
    const refused = checked.filter((result) => result.kind === 'refusal');
    const allowed = checked.filter((result) => result.kind !== 'refusal');
    commands.record(authorization, allowed, (transaction) => {
      const failed = refused.map(({ eventId = '', type }) =>
        refusedChange({ approver, eventId, reason: type }, { store, ports, deps }),
      );
      if (failed.length > 0) transaction.publish(failed);
      transaction.settle(sink, settlements, atMs, error);
    });
    for (const each of refused) denied(approver, each, sink);
  }

  /** Refuses the vote of a sink that was removed or acts for another approver now. Its delivery is accepted anyway. */
  #checked(authorization: ApprovalAuthorization, settlement: Settlement): readonly (ApprovalCommand | Refusal)[] {
    const id = settlement.result === 'accepted' ? settlement.approves : undefined;
    const seen = id === undefined ? null : this.#parts.store.journal.seen(id);
    if (id === undefined || seen === null) return [];
    const checked = this.#parts.check(authorization.origin.approver, {
      eventId: seen.event.eventId,
      key: seen.key,
      seen: [id],
    });
    if ('kind' in checked) return [checked];
    return checked.flatMap(({ kind, known }) =>
      kind === 'started' ? [] : [revokedRefusal(authorization, known) ?? { kind: 'prepared', known }],
    );
  }
}
