// Events that changed, started or ended, or a restart → changes to their approvals.
import type { EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import type { Governed, GovernedEvent } from '../rules/governed-event.ts';
import type { GovernedEvents } from '../rules/governed-events.ts';
import type { Rules } from '../rules/quorum.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Doubts } from './doubts.ts';
import type { Pending } from './pending.ts';
import { begun, closed, moved, review, type VoidVote } from './transitions.ts';

type Known = GovernedEvent['known'];

export interface ReviewsParts {
  readonly rules: Rules;
  readonly rulings: GovernedEvents;
  readonly chronicle: AuditTrail;
  readonly doubts: Doubts;
  /** Whether a StartRequest for it is under way, and not answered yet. */
  readonly isOnItsWay: (approval: EventApproval) => boolean;
  /** Whether these are the approvals as they stand in memory. */
  readonly isInPlace: (approval: EventApproval) => boolean;
  readonly keep: (approval: EventApproval) => void;
  /** The event has ended. */
  readonly forget: (known: Known) => void;
}

export class Reviews {
  readonly #parts: ReviewsParts;

  constructor(parts: ReviewsParts) {
    this.#parts = parts;
  }

  /** The event as it is now, and as this process's rules judge it. */
  review(known: Known, before: EventApproval | null, at: Instant): Pending {
    const { rules, rulings } = this.#parts;
    if (known.event.eventStatus === 'Started') return this.#pending(known, before, before && this.#begun(before, at), null, [], at);
    const governed = rulings.judge(known, at);
    const { approval, voided } = review(rules, before && this.#sinceStart(known, before, at), { known, governed }, at);
    return this.#pending(known, before, approval, governed, voided, at);
  }

  /** The event has ended: the answer to what is still on its way would come too late. */
  over(known: Known, before: EventApproval | null, at: Instant): Pending {
    const { chronicle, doubts, forget, isOnItsWay } = this.#parts;
    const passedBy = before !== null && isOnItsWay(before) ? 'unknown' : doubts.passedBy(known.key);
    const entry = chronicle.review(known, before, before && closed(before, at, passedBy), [], at);
    const apply = (): void => {
      chronicle.tell(entry);
      forget(known);
    };
    return { isNews: entry.after !== before, write: (transaction) => chronicle.write(transaction, [entry]), apply };
  }

  /** Told to be moot too early: what was on its way then may have been accepted after all. */
  inDoubt(known: Known, before: EventApproval, at: Instant): Pending {
    return this.#pending(known, before, moved(before, 'unknown', at), this.#parts.rulings.matterOf(known)?.governed ?? null, [], at);
  }

  /** What is on its way may be what has started it: the answer tells. */
  #begun(before: EventApproval, at: Instant): EventApproval {
    const { isOnItsWay, doubts } = this.#parts;
    return before.state === 'submitting' && isOnItsWay(before) ? before : begun(before, at, doubts.passedBy(before.key));
  }

  /** Back from Started before that answer came: what was to be posted then is to be posted no more. */
  #sinceStart(known: Known, before: EventApproval, at: Instant): EventApproval {
    const { rulings, isInPlace, doubts } = this.#parts;
    const wasStarted = rulings.matterOf(known) === null && isInPlace(before);
    return wasStarted && before.state === 'submitting' ? begun(before, at, doubts.passedBy(before.key)) : before;
  }

  #pending(
    known: Known,
    before: EventApproval | null,
    after: EventApproval | null,
    governed: Governed | null,
    voided: readonly VoidVote[],
    at: Instant,
  ): Pending {
    const { chronicle, rulings, keep } = this.#parts;
    const entry = chronicle.review(known, before, after, voided, at);
    const apply = (): void => {
      rulings.keep(known, governed);
      chronicle.tell(entry);
      if (after !== null) keep(after);
    };
    return { isNews: after !== before, write: (transaction) => chronicle.write(transaction, [entry]), apply };
  }
}
