// Votes, reviews and verdicts → approvals and their CloudEvents on disk, then the same in memory; says when one is decided.
import type { Logger } from 'pino';
import type { ApprovalChange, ApprovalPhase, ApprovalVote, EventApproval, Instant, ScheduledEvent } from '../model.ts';
import { type Deps, now } from '../time.ts';
import { approvalChange } from './approval-change.ts';
import type { ApprovalPorts } from './approval-ports.ts';
import type { ApprovalStore, ApprovalTransaction } from './approval-store.ts';
import { closed, moved, review, withVote } from './ballot.ts';
import type { Checked } from './check.ts';
import type { Rules } from './quorum.ts';
import type { Verdict } from './submissions.ts';

/** What happens to approvals, as a metric counts it; `denied`: a request was answered with a refusal. */
export type ApprovalEventName = 'recorded' | 'submitted' | 'failed' | 'void' | 'moot' | 'denied';

export interface LedgerParts {
  readonly store: ApprovalStore;
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
  readonly logger: Logger;
  /** For metrics. */
  readonly onEvent?: (name: ApprovalEventName) => void;
}

/** Approvals, and the event's content by which they are to be judged. */
export interface Judged {
  readonly approval: EventApproval;
  readonly event: ScheduledEvent;
  /** The event has ended. */
  readonly isOver: boolean;
}

/** The approvals of the occurrences that have not ended; what it holds is what is on disk. */
export class Ledger {
  readonly #rules: Rules;
  readonly #parts: LedgerParts;
  readonly #onDecided: (approval: EventApproval) => void;
  /** By key. */
  readonly #open = new Map<string, EventApproval>();

  /** `onDecided` is called with what has to be posted, each time it comes up. */
  constructor(rules: Rules, parts: LedgerParts, onDecided: (approval: EventApproval) => void) {
    this.#rules = rules;
    this.#parts = parts;
    this.#onDecided = onDecided;
  }

  /** Takes over what is stored, judged by the rules of this process. @throws BridgeError BRIDGE_STORE_* */
  load(): void {
    const { ports, store, deps } = this.#parts;
    const events = ports.events();
    const found = store.openApprovals().flatMap((approval): Judged[] => {
      const known = events.get(approval.key);
      return known?.occurrence === approval.occurrence ? [{ approval, event: known.event, isOver: false }] : [];
    });
    const reviews = this.review(found, now(deps));
    if (reviews.isNews) store.transact(reviews.write);
    reviews.commit();
  }

  /** Null without approvals, and once the occurrence has ended. */
  approvalOf(key: string, occurrence: number): EventApproval | null {
    const approval = this.#open.get(key);
    return approval?.occurrence === occurrence ? approval : null;
  }

  /**
   * One transaction for all, and for what `also` writes; none where all of it is known already and `also` is absent.
   * @throws BridgeError BRIDGE_STORE_*, and then nothing is recorded.
   */
  record(approver: string, checked: readonly Checked[], also?: (transaction: ApprovalTransaction) => void): void {
    const at = now(this.#parts.deps);
    const recorded = checked.flatMap(({ kind, known }) => {
      if (kind === 'started') return [];
      const before = this.approvalOf(known.key, known.occurrence);
      const after = withVote(this.#rules, before, known, approver, at);
      return [{ after, event: known.event, isNew: after.votes.at(-1)?.at === at, isNews: after !== before }];
    });
    if (also !== undefined || recorded.some(({ isNews }) => isNews)) {
      this.#parts.store.transact((transaction) => {
        for (const { after, isNews } of recorded) if (isNews) transaction.saveApproval(after);
        const votes = recorded.filter(({ isNew }) => isNew);
        if (votes.length > 0)
          transaction.publish(votes.map(({ after, event }) => this.#change('recorded', after, event, { approver, reason: null, at })));
        also?.(transaction);
      });
    }
    for (const { after, event, isNew } of recorded) {
      if (isNew) this.#tell('recorded', after, event, [approver]);
      this.#keep(after);
    }
  }

  /** What the events' content makes of these approvals: `write` in a transaction, then, once that is on disk, `commit`. */
  review(items: readonly Judged[], at: Instant) {
    const reviews = items.map(({ approval, event, isOver }) => {
      const { approval: after, voided } = isOver
        ? { approval: closed(approval, at), voided: [] }
        : review(this.#rules, approval, event, at);
      return { before: approval, after, voided, event, isOver };
    });
    const write = (transaction: ApprovalTransaction): void => {
      for (const { before, after } of reviews) if (after !== before) transaction.saveApproval(after);
      const changes = reviews.flatMap(({ after, event, voided }) =>
        voided.map(({ approver }) => this.#change('failed', after, event, { approver, reason: 'changed', at })),
      );
      if (changes.length > 0) transaction.publish(changes);
    };
    const commit = (): void => {
      for (const { before, after, voided, event, isOver } of reviews) {
        if (voided.length > 0) this.#tell('void', after, event, namesOf(voided));
        if (after !== before && after.state === 'moot') this.#tell('moot', after, event, namesOf(after.votes));
        if (isOver) this.#open.delete(after.key);
        else this.#keep(after);
      }
    };
    return { isNews: reviews.some(({ before, after }) => after !== before), write, commit };
  }

  /** What became of `posted`, the approvals as they were posted. @throws BridgeError BRIDGE_STORE_* */
  conclude(posted: EventApproval, verdict: Verdict): void {
    const current = this.approvalOf(posted.key, posted.occurrence);
    const event = this.#parts.ports.events().get(posted.key)?.event;
    // An answer that came after the end changes nothing; what became void or moot meanwhile can only still be accepted.
    if (current === null || event === undefined || (verdict !== 'submitted' && current.state !== 'submitting')) return;
    const at = now(this.#parts.deps);
    const late = current.votes.filter((vote) => posted.votes.every(({ approver }) => approver !== vote.approver));
    const after = moved(current, [...posted.votes, ...late], verdict, at);
    const approver = posted.votes.length === 1 ? (posted.votes[0]?.approver ?? null) : null;
    this.#parts.store.transact((transaction) => {
      transaction.saveApproval(after);
      if (verdict === 'submitted') transaction.publish([this.#change('submitted', after, event, { approver, reason: null, at })]);
      if (verdict === 'failed') transaction.publish([this.#change('failed', after, event, { approver, reason: 'refused', at })]);
    });
    this.#tell(verdict, after, event, namesOf(posted.votes));
    this.#keep(after);
  }

  #keep(approval: EventApproval): void {
    this.#open.set(approval.key, approval);
    if (approval.state === 'submitting') this.#onDecided(approval);
  }

  #change(
    phase: ApprovalPhase,
    { key, occurrence, policy }: EventApproval,
    event: ScheduledEvent,
    told: Pick<ApprovalChange, 'approver' | 'reason' | 'at'>,
  ): ApprovalChange {
    const { ports, store } = this.#parts;
    const context = { observerId: ports.observerId(), isUsed: (id: string) => store.isUsed(id) };
    return approvalChange(phase, { key, eventId: event.eventId, occurrence, event, policy, ...told }, context);
  }

  #tell(name: ApprovalEventName, { occurrence }: EventApproval, { eventId }: ScheduledEvent, approvers: readonly string[]): void {
    this.#parts.onEvent?.(name);
    this.#parts.logger.info({ eventId, occurrence, approvers }, `approval ${name}`);
  }
}

function namesOf(votes: readonly ApprovalVote[]): readonly string[] {
  return votes.map(({ approver }) => approver);
}
