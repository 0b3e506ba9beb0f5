// Commands, reviews, deadlines and answers → approvals on disk, then in memory; reports decisions.

import { type ApprovalOrigin, type EventApproval, LOST_ANSWER } from '../../model/approvals.ts';
import type { EventChange, Instant, KnownEvent } from '../../model/events.ts';
import { type Deps, now } from '../../time/clock.ts';
import type { ApprovalPorts, SubmissionVerdict } from '../ports.ts';
import type { ApprovalCommand } from '../requests/approval-command.ts';
import { type GovernedEvent, isPast } from '../rules/governed-event.ts';
import { GovernedEvents } from '../rules/governed-events.ts';
import type { Rules } from '../rules/quorum.ts';
import type { ApprovalStore, ApprovalTransaction } from '../store.ts';
import { AnswerRecord } from './answer-record.ts';
import { stepOf } from './audit-steps.ts';
import { AuditTrail, type AuditTrailParts, type Entry } from './audit-trail.ts';
import { Doubts, isInDoubt } from './doubts.ts';
import { NOTHING, type Pending, together } from './pending.ts';
import { Reviews } from './reviews.ts';
import { begun, isOpen, moved, stands, withDeadline, withHold, withoutHolds, withVote } from './transitions.ts';

export interface LedgerParts extends AuditTrailParts {
  readonly store: ApprovalStore;
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
}

export interface LedgerHooks {
  /** Called with what has to be posted, each time it comes up. */
  readonly onDecided: (approval: EventApproval) => void;
  /** When the deadline of an event falls due, in milliseconds since 1970; null where none lies ahead. */
  readonly onDeadline: (key: string, dueMs: number | null) => void;
  /** Whether a StartRequest for it is under way, and not answered yet. */
  readonly isOnItsWay: (approval: EventApproval) => boolean;
  /** Whether a process that ended since may have posted this, which it left behind as `submitting`. */
  readonly mayHavePosted: (approval: EventApproval) => boolean;
}

/** The approvals of the occurrences that have not ended; what it holds is what is on disk. */
export class Ledger {
  readonly #rules: Rules;
  readonly #parts: LedgerParts;
  readonly #hooks: LedgerHooks;
  readonly #chronicle: AuditTrail;
  readonly #rulings: GovernedEvents;
  /** By key. */
  readonly #open = new Map<string, EventApproval>();
  readonly #answers: AnswerRecord;
  readonly #doubts = new Doubts();
  readonly #reviews: Reviews;

  constructor(rules: Rules, parts: LedgerParts, hooks: LedgerHooks) {
    this.#rules = rules;
    this.#parts = parts;
    this.#hooks = hooks;
    this.#chronicle = new AuditTrail(parts);
    this.#answers = new AnswerRecord(parts.deps);
    this.#rulings = new GovernedEvents(rules.policy, hooks.onDeadline);
    this.#reviews = new Reviews({
      ...{ rules, rulings: this.#rulings, chronicle: this.#chronicle, doubts: this.#doubts, isOnItsWay: hooks.isOnItsWay },
      isInPlace: (approval) => this.#open.get(approval.key) === approval,
      keep: (approval) => this.#keep(approval),
      forget: (known) => this.#forget(known),
    });
  }

  /** Takes over what is stored, judged by the rules of this process. @throws BridgeError BRIDGE_STORE_* */
  load(): void {
    const { ports, store, deps } = this.#parts;
    const stored = new Map(store.approvals.open().map((approval) => [`${approval.key} ${approval.occurrence}`, approval]));
    const at = now(deps);
    const lost = [...stored.values()].filter(isOpen).map((approval) => this.#lost(approval, at));
    const reviews = [...ports.events().values()].map((known) =>
      this.#reviews.review(known, stored.get(`${known.key} ${known.occurrence}`) ?? null, at),
    );
    this.#commit([...lost, ...reviews]);
  }

  /** Null without approvals, and once the occurrence has ended. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#open.get(key);
    return approval?.occurrence === occurrence ? approval : null;
  }

  /** The event with what governs it; null where it is not Scheduled. */
  matterOf(known: GovernedEvent['known']): GovernedEvent | null {
    return this.#rulings.matterOf(known);
  }

  /**
   * What an approver asked for, all of it in one transaction, with what `also` writes; none where all of it is known already and `also` is absent.
   * @throws BridgeError BRIDGE_STORE_*, and then nothing is recorded.
   */
  act(origin: ApprovalOrigin, acts: readonly ApprovalCommand[], also?: (transaction: ApprovalTransaction) => void): void {
    const at = now(this.#parts.deps);
    const current = new Map<string, EventApproval>();
    const entries = acts.flatMap((act): Entry[] => {
      const { key, occurrence } = act.known;
      const matter = this.matterOf(act.known);
      const before = current.get(key) ?? this.approvalOf(key, occurrence);
      const after = matter && this.#acted(origin, act, before, matter, at);
      if (after === null || after === before) return [];
      current.set(key, after);
      return [this.#chronicle.entry(act.known, before, after, at, origin)];
    });
    if (also !== undefined || entries.length > 0) {
      this.#parts.store.commit((transaction) => {
        this.#chronicle.write(transaction, entries);
        also?.(transaction);
      });
    }
    for (const entry of entries) this.#chronicle.tell(entry);
    for (const approval of current.values()) this.#keep(approval);
  }

  /** What the changes of a document make of approvals. */
  observe(changes: readonly EventChange[]): Pending {
    return together(
      changes.map((change) => {
        const approval = this.approvalOf(change.key, change.occurrence);
        return change.phase === 'ended'
          ? this.#reviews.over(change, approval, change.at)
          : this.#reviews.review(change, approval, change.at);
      }),
    );
  }

  /** The deadline of this event has fallen due: it approves where the rule says so and this process sees the event. @throws BridgeError BRIDGE_STORE_* */
  fallDue(key: string): void {
    const { ports, deps, store } = this.#parts;
    const known = ports.events().get(key);
    const matter = known && this.matterOf(known);
    if (!known || !matter || matter.governed.isDone) {
      this.#hooks.onDeadline(key, null);
      return;
    }
    const at = now(deps);
    const before = this.approvalOf(key, known.occurrence);
    const done = { ...matter.governed, isDone: true };
    const isSeen = this.#sees(known);
    // It stays undecided when sight is back, though the disk may be full now and has no room for the record.
    if (!isSeen) this.#rulings.keep(known, done);
    const approves = isSeen && matter.governed.ruling.deadline?.then === 'approve' && !isPast(known.event, at.wallMs);
    const after = approves ? withDeadline(this.#rules, before, matter, at) : before;
    const isDecided = after !== null && after !== before;
    const entry = isDecided
      ? this.#chronicle.entry(known, before, after, at)
      : {
          known,
          before,
          after,
          changes: [],
          steps: stands(before) ? [] : [stepOf('left', at.wallMs, matter.governed.ruling.policy, { reason: 'deadline' })],
        };
    store.commit((transaction) => this.#chronicle.write(transaction, [entry]));
    this.#rulings.keep(known, done);
    this.#chronicle.tell(entry);
    if (isDecided) this.#keep(after);
  }

  /**
   * The metadata service answered a StartRequest with all of these, and not with a yes: for the record. What has started meanwhile has started
   * without it, or nobody can know, where the answer was lost.
   * @throws BridgeError BRIDGE_STORE_*
   */
  answered(posted: readonly EventApproval[], status: number | string | null, mayHaveArrived: boolean): void {
    this.#commit(posted.flatMap((each) => [this.#answers.line(each, status, mayHaveArrived), this.#afterAnswer(each, mayHaveArrived)]));
  }

  /** What became of all of `posted`, the approvals as they were posted. @throws BridgeError BRIDGE_STORE_* */
  conclude(posted: readonly EventApproval[], verdict: SubmissionVerdict, status: number): void {
    this.#commit(posted.map((each) => this.#concluded(each, verdict, status)));
  }

  /** Those of all events that have not ended. */
  open(): readonly EventApproval[] {
    return [...this.#open.values()];
  }

  /** Everything that is decided comes up again. */
  remind(): void {
    for (const approval of this.#open.values()) if (approval.state === 'submitting') this.#hooks.onDecided(approval);
  }

  /** What the processes before this one left in doubt, and the line that keeps it. */
  #lost(approval: EventApproval, at: Instant): Pending {
    const { occurrence, state, policy } = approval;
    const isKnown = isInDoubt(this.#parts.store, occurrence);
    const isNews = !isKnown && state === 'submitting' && this.#hooks.mayHavePosted(approval);
    if (isKnown || isNews) this.#doubts.add(approval);
    const steps = isNews ? [stepOf('answered', at.wallMs, policy, { reason: LOST_ANSWER })] : [];
    return { isNews, write: (transaction) => isNews && transaction.addSteps(occurrence, steps), apply: () => {} };
  }

  #afterAnswer(posted: EventApproval, mayHaveArrived: boolean): Pending {
    const before = this.approvalOf(posted.key, posted.occurrence);
    if (mayHaveArrived && before !== null) this.#doubts.add(before);
    const known = this.#parts.ports.events().get(posted.key);
    if (before === null || known === undefined) return NOTHING;
    // Its approval became void, held or moot while the request was in flight.
    const isMootNoMore = before.state === 'moot' && mayHaveArrived;
    if (!isMootNoMore && (before.state !== 'submitting' || known.event.eventStatus !== 'Started')) return NOTHING;
    const at = now(this.#parts.deps);
    return isMootNoMore ? this.#reviews.inDoubt(known, before, at) : this.#reviews.review(known, before, at);
  }

  #concluded(posted: EventApproval, verdict: SubmissionVerdict, status: number): Pending {
    const before = this.approvalOf(posted.key, posted.occurrence);
    const known = this.#parts.ports.events().get(posted.key);
    if (before === null || known === undefined || (verdict !== 'submitted' && before.state !== 'submitting')) return NOTHING;
    const at = now(this.#parts.deps);
    const late = before.votes.filter((vote) => posted.votes.every(({ approver }) => approver !== vote.approver));
    const { decision, policy } = posted;
    const state = verdict === 'moot' ? this.#doubts.passedBy(posted.key) : verdict;
    const told = moved({ ...before, decision, policy, votes: [...posted.votes, ...late] }, state, at);
    // A document may show the start before the answer is there.
    const after = known.event.eventStatus === 'Started' ? begun(told, at, 'moot') : told;
    const entry = this.#chronicle.verdict({ known, posted, before, after, status, at });
    const apply = (): void => {
      this.#chronicle.tell(entry);
      this.#keep(after);
    };
    return { isNews: true, write: (transaction) => this.#chronicle.write(transaction, [entry]), apply };
  }

  /** All of them in one transaction, and none where nothing is new. */
  #commit(parts: readonly Pending[]): void {
    const pending = together(parts);
    if (pending.isNews) this.#parts.store.commit(pending.write);
    pending.apply();
  }

  #acted(
    origin: ApprovalOrigin,
    act: ApprovalCommand,
    before: EventApproval | null,
    matter: GovernedEvent,
    at: Instant,
  ): EventApproval | null {
    if (act.kind === 'vote') return withVote(this.#rules, before, matter, { ...origin, hasSeen: act.hasSeen }, at);
    if (act.kind === 'hold') {
      return withHold(this.#rules, before, matter, { ...origin, reason: act.reason, at, sentMs: act.sentMs, replaced: null });
    }
    return before && withoutHolds(this.#rules, before, matter, act.holders, at);
  }

  /** Whether this process sees the event as Scheduled. */
  #sees({ listed, event }: KnownEvent): boolean {
    const { ports } = this.#parts;
    return listed && event.eventStatus === 'Scheduled' && ports.lastReadAt() !== null && !ports.isBlind();
  }

  #keep(approval: EventApproval): void {
    this.#open.set(approval.key, approval);
    this.#doubts.see(approval);
    if (approval.state === 'submitting') this.#hooks.onDecided(approval);
  }

  #forget(known: GovernedEvent['known']): void {
    this.#open.delete(known.key);
    this.#answers.forget(known.key);
    this.#doubts.forget(known.key);
    this.#rulings.forget(known);
  }
}
