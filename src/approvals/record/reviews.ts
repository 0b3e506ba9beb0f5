// Events that changed, started or ended, or a restart → changes to their approvals.
import { type EventApproval, LOST_ANSWER } from '../../model/approvals.ts';
import type { EventChange, Instant } from '../../model/events.ts';
import { now } from '../../time/clock.ts';
import type { Governed, GovernedEvent } from '../rules/governed.ts';
import type { ApprovalTransaction } from '../store.ts';
import type { Allotments } from './allotments.ts';
import { isUnsettled, moved, type PassedBy } from './approval-state.ts';
import { stepOf } from './audit-steps.ts';
import { type Pending, together } from './audit-trail.ts';
import { recordedDoubt } from './doubts.ts';
import { withHoldOfAll } from './hold-of-all.ts';
import type { RecordParts } from './ledger.ts';
import { withSinkHolds } from './sink-holds.ts';
import { begun, closed, review, type VoidVote } from './transitions.ts';

type Known = GovernedEvent['known'];

interface ReviewsParts extends RecordParts {
  readonly allotments: Pick<Allotments, 'restOf' | 'keep'>;
  /** Whether an earlier process may have posted this approval, which it left as `submitting`. */
  readonly mayHavePosted: (approval: EventApproval) => boolean;
}

export class Reviews {
  readonly #parts: ReviewsParts;

  constructor(parts: ReviewsParts) {
    this.#parts = parts;
  }

  /** Loads the stored approvals and applies the rules of this process. @throws BridgeError BRIDGE_STORE_* */
  load(): void {
    const { ports, store, deps, ledger } = this.#parts;
    const stored = new Map(
      store.approvals.open().map((approval) => [`${approval.key} ${approval.occurrence}`, approval]),
    );
    const at = now(deps);
    const lost = [...stored.values()].filter(isUnsettled).map((approval) => this.#lost(approval, at));
    const reviews = [...ports.events().values()].map((known) =>
      this.review(known, stored.get(`${known.key} ${known.occurrence}`) ?? null, at),
    );
    ledger.commit([...lost, ...reviews]);
  }

  /** Applies changed rules to every Scheduled event. @throws BridgeError BRIDGE_STORE_*; nothing is stored then */
  again(): void {
    const { ports, deps, ledger } = this.#parts;
    const at = now(deps);
    ledger.inOne(() => {
      // Whether it was this bridge's turn to post is judged by the rules that come.
      ledger.commit(ledger.open().map((approval) => ledger.answerRecord.doubt(approval)));
      const scheduled = [...ports.events().values()].filter(({ event }) => event.eventStatus === 'Scheduled');
      ledger.commit(scheduled.map((known) => this.review(known, ledger.approvalOf(known.key, known.occurrence), at)));
    });
  }

  /**
   * Returns the effect of the changes of a document. `preparing`: the sinks that hold the event from this change on.
   */
  observe(changes: readonly EventChange[], preparing: (change: EventChange) => readonly string[]): Pending {
    return together(
      changes.map((change) => {
        const approval = this.#parts.ledger.approvalOf(change.key, change.occurrence);
        return change.phase === 'ended'
          ? this.#over(change, approval, change.at)
          : this.review(change, approval, change.at, preparing(change));
      }),
    );
  }

  /** Returns the effect of the current event and rules on its approvals. */
  review(known: Known, before: EventApproval | null, at: Instant, preparing: readonly string[] = []): Pending {
    if (known.event.eventStatus === 'Started')
      return this.#pending(known, before, before && this.#begun(before, at), null, [], at);
    return this.#reviewUnder(this.#parts.ledger.governedEvents.applyRules(known, at), known, before, at, preparing);
  }

  /** Returns the effect of the window of an event that has opened or closed. */
  atWindowEdge(governedEvent: GovernedEvent, at: Instant): Pending {
    const { ledger } = this.#parts;
    const { key, occurrence } = governedEvent.known;
    const governed = ledger.governedEvents.nextOpening(governedEvent, at);
    return this.#reviewUnder(governed, governedEvent.known, ledger.approvalOf(key, occurrence), at, []);
  }

  #reviewUnder(
    governed: Governed,
    known: Known,
    before: EventApproval | null,
    at: Instant,
    preparing: readonly string[],
  ): Pending {
    const { rules, ledger, ports } = this.#parts;
    const standing = before && this.#sinceStart(known, before, at);
    const { approval, voided } = review(rules, standing, { known, governed }, at);
    const facts = {
      ...{ holdingSinks: rules.holdingSinks, preparing },
      wasSent: (sink: string) => ports.wasSent(sink, known.occurrence),
      actsOn: (sink: string) => ports.actsOn(sink, known.event),
    };
    const held = withSinkHolds(rules, { before: standing, after: approval }, { known, governed }, facts, at);
    const after = withHoldOfAll(rules, held, { known, governed }, ledger.holdOfAll, at);
    return this.#pending(known, before, after, governed, voided, at);
  }

  /** Returns the correction of a final state that was reported before the answer to a StartRequest arrived. */
  corrected(known: Known, before: EventApproval, passedBy: PassedBy, at: Instant): Pending {
    return this.#pending(
      known,
      before,
      moved(before, passedBy, at),
      this.#parts.ledger.governedEventOf(known)?.governed ?? null,
      [],
      at,
    );
  }

  /** Keeps an approval in doubt if an earlier process may have posted it, and records that. */
  #lost(approval: EventApproval, at: Instant): Pending {
    const { store, ledger, mayHavePosted } = this.#parts;
    const { occurrence, state, policy } = approval;
    const doubt = recordedDoubt(store, occurrence);
    const isNews = doubt === 'awaited' || (doubt === null && state === 'submitting' && mayHavePosted(approval));
    if (doubt !== null || isNews) ledger.doubts.add(approval, true);
    const steps = isNews ? [stepOf('answered', at.wallMs, policy, { reason: LOST_ANSWER })] : [];
    return { isNews, write: (transaction) => isNews && transaction.addSteps(occurrence, steps), apply: () => {} };
  }

  /** Closes the approvals of an event that has ended. An answer to a StartRequest in flight would be too late. */
  #over(known: Known, before: EventApproval | null, at: Instant): Pending {
    const { auditTrail, ledger, allotments } = this.#parts;
    const entry = auditTrail.review(
      known,
      before,
      before && closed(before, at, ledger.doubts.passedBy(before)),
      [],
      at,
    );
    const ended = auditTrail.pending([entry], () => ledger.forget(known));
    const rest = allotments.restOf(known, before, at);
    if (rest === null) return ended;
    const resting = {
      isNews: true,
      write: (transaction: ApprovalTransaction) => transaction.addRest(rest),
      apply: () => allotments.keep(rest),
    };
    return together([ended, resting]);
  }

  /**
   * A StartRequest in flight may have started the event, even if its approval is void or held now: its answer decides.
   */
  #begun(before: EventApproval, at: Instant): EventApproval {
    const { doubts } = this.#parts.ledger;
    return isUnsettled(before) && doubts.isOnItsWay(before) ? before : begun(before, at, doubts.passedBy(before));
  }

  /** If the event went back from Started before that answer arrived, the earlier decision must not be posted again. */
  #sinceStart(known: Known, before: EventApproval, at: Instant): EventApproval {
    const { ledger } = this.#parts;
    const wasStarted =
      ledger.governedEventOf(known) === null && ledger.approvalOf(before.key, before.occurrence) === before;
    return wasStarted && isUnsettled(before) ? begun(before, at, ledger.doubts.passedBy(before)) : before;
  }

  #pending(
    known: Known,
    before: EventApproval | null,
    after: EventApproval | null,
    governed: Governed | null,
    voided: readonly VoidVote[],
    at: Instant,
  ): Pending {
    const { auditTrail, ledger } = this.#parts;
    const entry = auditTrail.review(known, before, after, voided, at);
    const reviewed = auditTrail.pending([entry], () => {
      ledger.governedEvents.keep(known, governed);
      if (after !== null) ledger.keep(after);
    });
    const isLeft = before?.state === 'submitting' && after?.state !== 'submitting';
    return isLeft ? together([ledger.answerRecord.doubt(before), reviewed]) : reviewed;
  }
}
