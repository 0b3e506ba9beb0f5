// Approvals → the record of an event, its summary in GET /v1/events, and figures for metrics.

import { toRfc3339Seconds } from '../../formats/dates.ts';
import type { ApprovalState, EventApproval, RecordRange } from '../../model/approvals.ts';
import type { Instant, KnownEvent } from '../../model/events.ts';
import { isDrill } from '../../model/ids.ts';
import type { GoverningRule, NextStep, NextStepEvent } from '../../model/next-step.ts';
import { ageMs, now } from '../../time/clock.ts';
import type { Allotments } from '../record/allotments.ts';
import type { RecordParts } from '../record/ledger.ts';
import { type Refusal, refusal } from '../requests/answer.ts';
import { keyOf, tooLong } from '../requests/start-requests.ts';
import { type GovernedEvent, openingFor, windowEdgeMs } from '../rules/governed.ts';
import { rankOf } from '../rules/group-order.ts';
import { type EventRecord, lifeOf } from './event-record.ts';
import { nextStepOf } from './next-step.ts';
import { asItCounts, missingOf, type Summary, summaryOf } from './result.ts';

/** The default part of a record. */
export const FIRST_PART: RecordRange = { after: 0, limit: 100 };

interface ViewsParts extends RecordParts {
  /** Milliseconds from `at`, or from now, until this bridge may post a decided approval; null if it never does. */
  readonly turnMs: (approval: EventApproval, at?: Instant) => number | null;
  readonly allotments: Pick<Allotments, 'heldBackBy' | 'inUse'>;
}

/** What happens to an event if nobody acts, and why. */
type NextStepFields = Required<Pick<NextStepEvent, 'nextStep' | 'heldBackBy' | 'rule'>>;

/** A Scheduled event that needs an approval, or the release of a hold, before its NotBefore. */
interface AwaitedEvent {
  readonly state: 'waiting' | 'held';
  /** RFC 3339. */
  readonly notBefore: string;
}

export interface Overview {
  /** One state for each event that has approvals and has not ended. */
  readonly states: readonly ApprovalState[];
  /** How long the oldest accepted approval has waited for the start of its event; 0 without one. */
  readonly notStartedSeconds: number;
  readonly awaited: readonly AwaitedEvent[];
}

/** Read access to the approvals. */
export class Queries {
  readonly #parts: ViewsParts;

  constructor(parts: ViewsParts) {
    this.#parts = parts;
  }

  /**
   * Returns the approvals of an event and a part of their record, even if the event has ended.
   * @throws BridgeError BRIDGE_STORE_*
   */
  life(eventId: string, range: RecordRange = FIRST_PART): EventRecord | Refusal {
    const fault = tooLong(eventId);
    if (fault !== null) return fault;
    const { rules, ledger, store, ports, deps } = this.#parts;
    const { group } = rules;
    const key = keyOf(eventId);
    const last = store.known.lastOccurrence(key);
    if (last === null)
      return refusal(
        'unknown',
        `This bridge has no record of the event ${eventId}. GET /v1/events shows the listed events.`,
        eventId,
      );
    const { occurrence, endedMs } = last;
    const known = ports.events().get(key);
    const approval = ledger.approvalOf(key, occurrence) ?? store.approvals.of(occurrence);
    const event = known?.event ?? approval?.votes[0]?.event;
    const next = this.#nextStep(known?.occurrence === occurrence ? known : undefined);
    return lifeOf({
      rules,
      eventId: event?.eventId ?? eventId,
      isOver: endedMs !== null,
      approval,
      governedEvent: known?.occurrence === occurrence ? ledger.governedEventOf(known) : null,
      record: store.approvals.record(occurrence, range),
      rank: group.submit === 'leader' && event && !isDrill(key) ? rankOf(event, ports.ownName(), group.members) : null,
      turnMs: approval && this.#parts.turnMs(approval),
      at: now(deps),
      usedBudgets: this.#parts.allotments.inUse(next.heldBackBy),
      ...next,
    });
  }

  /** Returns the summary for `GET /v1/events`, or null if there is none. `key`: the EventId in lower case. */
  summary(key: string): Summary | null {
    const { rules, ledger, ports } = this.#parts;
    const known = ports.events().get(key);
    if (known === undefined) return null;
    return summaryOf(rules, ledger.approvalOf(key, known.occurrence), ledger.governedEventOf(known));
  }

  /** Returns what happens to an event if nobody acts, and the rule that governs it. */
  nextStep(key: string): NextStepFields {
    return this.#nextStep(this.#parts.ports.events().get(key));
  }

  #nextStep(known: KnownEvent | undefined): NextStepFields {
    const { rules, ledger, ports, deps, turnMs, allotments } = this.#parts;
    const at = now(deps);
    const governedEvent = known === undefined ? null : this.#governedNow(known, at);
    const approval = known === undefined ? null : ledger.approvalOf(known.key, known.occurrence);
    const isSeen = known?.listed === true && !ports.isBlind();
    const heldBackBy = known === undefined ? [] : allotments.heldBackBy(known);
    const nextStep = nextStepOf({ rules, approval, governedEvent, heldBackBy, isSeen, turnMs, at });
    return { nextStep, heldBackBy, rule: governedEvent && this.#ruleOf(governedEvent, approval, nextStep) };
  }

  /** Returns the event with the next window, if the one it waits for has passed while the machine slept. */
  #governedNow(known: KnownEvent, at: Instant): GovernedEvent | null {
    const { ledger } = this.#parts;
    const governedEvent = ledger.governedEventOf(known);
    const edgeMs = governedEvent && windowEdgeMs(governedEvent.governed);
    if (governedEvent === null || edgeMs === null || edgeMs > at.wallMs) return governedEvent;
    return { ...governedEvent, governed: ledger.governedEvents.nextOpening(governedEvent, at) };
  }

  #ruleOf(governedEvent: GovernedEvent, approval: EventApproval | null, { action, at }: NextStep): GoverningRule {
    const { rules } = this.#parts;
    const { ruling, opening: first } = governedEvent.governed;
    // In a group, the turn of this bridge may come in a later opening than the first.
    const atMs = action === 'approve' && at !== null ? Date.parse(at) : null;
    const isLater = first !== null && atMs !== null && atMs >= first.untilMs;
    const opening = isLater ? openingFor(rules.calendar, ruling, governedEvent.known.event, atMs) : first;
    const window = opening && {
      name: opening.window,
      opensAt: toRfc3339Seconds(opening.fromMs),
      closesAt: toRfc3339Seconds(opening.untilMs),
      timeZone: rules.windows[opening.window]?.timeZone ?? 'UTC',
    };
    const { policy, then, during, budgets } = ruling;
    return { policy, then, waitingFor: missingOf(rules, approval, governedEvent), window, during, budgets };
  }

  /**
   * Returns the approvers that a Scheduled event waits for; empty if it is decided, is never approved, or needs no
   * approver.
   */
  missing(key: string): readonly string[] {
    const { rules, ledger, ports } = this.#parts;
    const known = ports.events().get(key);
    const governedEvent = known === undefined ? null : ledger.governedEventOf(known);
    return governedEvent === null
      ? []
      : missingOf(rules, ledger.approvalOf(key, governedEvent.known.occurrence), governedEvent);
  }

  overview(): Overview {
    const at = now(this.#parts.deps);
    // Drills must not raise alerts.
    const open = this.#parts.ledger.open().filter(({ key }) => !isDrill(key));
    const ages = open.filter(({ state }) => state === 'submitted').map((approval) => ageMs(approval.at, at) / 1000);
    const states = open.flatMap((approval) => this.#current(approval)?.state ?? []);
    return { states, notStartedSeconds: Math.max(0, ...ages), awaited: this.#awaited() };
  }

  #current(approval: EventApproval): EventApproval | null {
    const { ledger, ports } = this.#parts;
    const known = ports.events().get(approval.key);
    return asItCounts(approval, known?.occurrence === approval.occurrence ? ledger.governedEventOf(known) : null);
  }

  #awaited(): AwaitedEvent[] {
    const scheduled = [...this.#parts.ports.events()].filter(
      ([key, { event }]) => event.eventStatus === 'Scheduled' && !isDrill(key),
    );
    return scheduled.flatMap(([key, known]) => {
      const { event } = known;
      const then = this.#parts.ledger.governedEventOf(known)?.governed.ruling.then ?? null;
      const state = awaitedState(this.summary(key), then);
      return state === null || event.notBefore === null ? [] : [{ state, notBefore: event.notBefore }];
    });
  }
}

/** An event that waits only for the deadline, a window or a budget of its rule does not wait for approvers. */
function awaitedState(summary: Summary | null, then: GoverningRule['then'] | null): AwaitedEvent['state'] | null {
  if (summary?.state === 'held') return 'held';
  return then === 'wait' && summary?.state === 'waiting' && summary.waitingFor.length > 0 ? 'waiting' : null;
}
