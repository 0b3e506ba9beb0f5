// Outcomes of a sink's deliveries → stored, with the votes of its approver in the same transaction.
import type { Settlement, SinkError } from '../../model/deliveries.ts';
import { viaSink } from '../../model/hold-owner.ts';
import type { Deps } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';
import type { Refusal } from '../requests/answer.ts';
import type { ApprovalCommand } from '../requests/approval-command.ts';
import { type Authorization, revokedRefusal } from '../requests/authorization.ts';
import type { Checked } from '../requests/check.ts';
import type { StartRequest } from '../requests/start-requests.ts';
import type { ApprovalStore } from '../store.ts';
import { refusedChange } from './audit-trail.ts';
import type { Commands } from './commands.ts';

/** A sink whose accepted deliveries may approve events (its key `approve`). */
export interface ApprovingSink {
  readonly sink: string;
  readonly approver: string;
}

export interface SinkOutcomesParts {
  readonly store: Pick<ApprovalStore, 'journal'>;
  readonly ports: Pick<ApprovalPorts, 'events' | 'observerId' | 'isAuthorized'>;
  readonly deps: Deps;
  readonly commands: Commands;
  /** Checks a request that is made now. */
  readonly check: (approver: string, request: StartRequest) => readonly Checked[] | Refusal;
  readonly denied: (approver: string, refused: Refusal, sink: string) => void;
}

export class SinkOutcomes {
  readonly #parts: SinkOutcomesParts;

  constructor(parts: SinkOutcomesParts) {
    this.#parts = parts;
  }

  /**
   * Stores everything in one transaction. If a vote is refused, its delivery stays accepted, and an `approval.failed` is published.
   * @throws BridgeError BRIDGE_STORE_*; nothing is stored then
   */
  settle({ sink, approver }: ApprovingSink, settlements: readonly Settlement[], atMs: number, error: SinkError | null = null): void {
    const { store, ports, deps, commands, denied } = this.#parts;
    const origin = { approver, via: viaSink(sink), isShared: false };
    const authorization: Authorization = { origin, isValid: (event) => ports.isAuthorized(origin, event) };
    const judged = settlements.flatMap((settlement) => this.#judged(authorization, settlement));
    const refused = judged.filter((act) => act.kind === 'refusal');
    const acts = judged.filter((act) => act.kind !== 'refusal');
    commands.record(authorization, acts, (transaction) => {
      const failed = refused.map(({ eventId = '', type }) => refusedChange({ approver, eventId, reason: type }, { store, ports, deps }));
      if (failed.length > 0) transaction.publish(failed);
      transaction.settle(sink, settlements, atMs, error);
    });
    for (const each of refused) denied(approver, each, sink);
  }

  /** Refuses the vote of a sink that was removed or acts for another approver now. Its delivery is accepted anyway. */
  #judged(authorization: Authorization, settlement: Settlement): readonly (ApprovalCommand | Refusal)[] {
    const id = settlement.result === 'accepted' ? settlement.approves : undefined;
    const seen = id === undefined ? null : this.#parts.store.journal.seen(id);
    if (id === undefined || seen === null) return [];
    const checked = this.#parts.check(authorization.origin.approver, { eventId: seen.event.eventId, key: seen.key, seen: [id] });
    if ('kind' in checked) return [checked];
    return checked.flatMap(({ kind, known }) =>
      kind === 'started' ? [] : [revokedRefusal(authorization, known) ?? { kind: 'prepared', known }],
    );
  }
}
