// Approvals → an event's record, its summary in GET /v1/events, and the open ones for metrics.
import type { ApprovalState, EventApproval, RecordRange } from '../../model/approvals.ts';
import { isDrill } from '../../model/drills.ts';
import { ageMs, type Deps, now } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';
import type { Ledger } from '../record/ledger.ts';
import { type Refusal, refusal } from '../requests/answer.ts';
import { keyOf } from '../requests/start-requests.ts';
import { rankOf } from '../rules/group-order.ts';
import type { RulesInForce } from '../rules/rules-in-force.ts';
import type { ApprovalStore } from '../store.ts';
import { type EventRecord, lifeOf } from './event-record.ts';
import { asItCounts, missingOf, type Summary, summaryOf } from './result.ts';

/** Of a record, where nothing else is asked for. */
export const FIRST_PART: RecordRange = { after: 0, limit: 100 };

export interface ViewsParts {
  readonly rules: RulesInForce;
  readonly ledger: Pick<Ledger, 'approvalOf' | 'matterOf' | 'open'>;
  readonly store: Pick<ApprovalStore, 'approvals' | 'known'>;
  readonly ports: Pick<ApprovalPorts, 'events' | 'ownName'>;
  readonly deps: Deps;
  /** Milliseconds until this bridge posts what is decided; null where it never does. */
  readonly turnMs: (approval: EventApproval) => number | null;
}

/** A Scheduled event that somebody has to agree to, or to release, before its NotBefore. */
export interface AwaitedEvent {
  readonly state: 'waiting' | 'held';
  /** RFC 3339. */
  readonly notBefore: string;
}

/** For metrics. */
export interface Overview {
  /** Of each event that has not ended and has approvals. */
  readonly states: readonly ApprovalState[];
  /** How long the oldest accepted one has waited for its event to start; 0 without one. */
  readonly notStartedSeconds: number;
  readonly awaited: readonly AwaitedEvent[];
}

/** Changes nothing. */
export class Queries {
  readonly #parts: ViewsParts;

  constructor(parts: ViewsParts) {
    this.#parts = parts;
  }

  /** All that became of the approvals of an event, also of one that has ended. @throws BridgeError BRIDGE_STORE_* */
  life(eventId: string, range: RecordRange): EventRecord | Refusal {
    const { rules, ledger, store, ports, deps } = this.#parts;
    const { group } = rules;
    const key = keyOf(eventId);
    const last = store.known.lastOccurrence(key);
    if (last === null)
      return refusal('unknown', `This bridge knows no event ${eventId}; look at GET /v1/events for those that are listed.`, eventId);
    const { occurrence, endedMs } = last;
    const known = ports.events().get(key);
    const approval = ledger.approvalOf(key, occurrence) ?? store.approvals.of(occurrence);
    const event = known?.event ?? approval?.votes[0]?.event;
    return lifeOf({
      rules,
      eventId: event?.eventId ?? eventId,
      isOver: endedMs !== null,
      approval,
      matter: known?.occurrence === occurrence ? ledger.matterOf(known) : null,
      record: store.approvals.record(occurrence, range),
      rank: group.submit === 'leader' && event && !isDrill(key) ? rankOf(event, ports.ownName(), group.members) : null,
      turnMs: approval && this.#parts.turnMs(approval),
      at: now(deps),
    });
  }

  /** By EventId in lower case; null where there is nothing to tell. */
  summary(key: string): Summary | null {
    const { rules, ledger, ports } = this.#parts;
    const known = ports.events().get(key);
    if (known === undefined) return null;
    return summaryOf(rules, ledger.approvalOf(key, known.occurrence), ledger.matterOf(known));
  }

  /** As `Approvals.missing`. */
  missing(key: string): readonly string[] {
    const { rules, ledger, ports } = this.#parts;
    const known = ports.events().get(key);
    const matter = known === undefined ? null : ledger.matterOf(known);
    return matter === null ? [] : missingOf(rules, ledger.approvalOf(key, matter.known.occurrence), matter);
  }

  overview(): Overview {
    const at = now(this.#parts.deps);
    // No drill makes an alert.
    const open = this.#parts.ledger.open().filter(({ key }) => !isDrill(key));
    const ages = open.filter(({ state }) => state === 'submitted').map((approval) => ageMs(approval.at, at) / 1000);
    const states = open.flatMap((approval) => this.#current(approval)?.state ?? []);
    return { states, notStartedSeconds: Math.max(0, ...ages), awaited: this.#awaited() };
  }

  #current(approval: EventApproval): EventApproval | null {
    const { ledger, ports } = this.#parts;
    const known = ports.events().get(approval.key);
    return asItCounts(approval, known?.occurrence === approval.occurrence ? ledger.matterOf(known) : null);
  }

  #awaited(): AwaitedEvent[] {
    const scheduled = [...this.#parts.ports.events()].filter(([key, { event }]) => event.eventStatus === 'Scheduled' && !isDrill(key));
    return scheduled.flatMap(([key, { event }]) => {
      const state = awaitedState(this.summary(key));
      return state === null || event.notBefore === null ? [] : [{ state, notBefore: event.notBefore }];
    });
  }
}

/** A rule that waits for its deadline alone waits for nobody. */
function awaitedState(summary: Summary | null): AwaitedEvent['state'] | null {
  if (summary?.state === 'held') return 'held';
  return summary?.state === 'waiting' && summary.waitingFor.length > 0 ? 'waiting' : null;
}
