// What stands about one event → whether its StartRequest must have gone out by now.
import type { Settings } from '../history.ts';
import type { ApprovalCase } from './approval-case.ts';
import type { BudgetUses } from './budget-uses.ts';
import type { Report } from './finding.ts';
import type { At } from './grounds.ts';
import { isQuorum, type Ruling, rankOf, rulingOf } from './policy.ts';
import { isAhead, isOpen } from './terms.ts';

/** Nothing stands in the way of an approval for so long: then it must have been posted. */
const POSTED_MS = 20_000;

export class MustPost {
  readonly #name: string;
  readonly #budgets: BudgetUses;
  readonly #report: Report;

  /** @param name of the machine */
  constructor(name: string, budgets: BudgetUses, report: Report) {
    this.#name = name;
    this.#budgets = budgets;
    this.#report = report;
  }

  /** @param isStopped whether a hold, a program or a document may stop it */
  look(one: ApprovalCase, settings: Settings, isStopped: boolean, at: At): void {
    const { atMs } = at;
    if (isStopped || !this.#isFree(one, settings, at)) one.freeMs = null;
    else one.freeMs ??= atMs;
    if (one.freeMs === null || atMs - one.freeMs <= POSTED_MS) return;
    this.#report('lost', atMs, `${one.event.EventId} must be approved since ${one.freeMs} ms, and was not posted`);
    one.wasPosted = true;
  }

  /** Whether a rule or a quorum approves it. */
  #isFree(one: ApprovalCase, settings: Settings, at: At): boolean {
    if (one.wasPosted || one.wasDry || one.event.EventStatus !== 'Scheduled') return false;
    const ruling = rulingOf(settings.approvals, one.event);
    return this.#isSurelyVoted(one, settings, ruling) || this.#isFreeByRule(one, settings, ruling, at);
  }

  #isFreeByRule(one: ApprovalCase, settings: Settings, ruling: Ruling, { atMs, wallMs }: At): boolean {
    const { then: verdict, during } = ruling;
    if (verdict !== 'approve' || !this.#budgets.isSurelyWithin(one, ruling, atMs)) return false;
    if (during !== null && (one.hasJumped || !isOpen(ruling, wallMs) || !isAhead(one.event, wallMs))) return false;
    return this.#isFirst(one, settings.approvals);
  }

  /**
   * A quorum that this bridge has stored. Neither windows nor budgets delay it, and the group does not if all of it was
   * said at its own endpoint.
   */
  #isSurelyVoted(one: ApprovalCase, { approvals }: Settings, ruling: Ruling): boolean {
    const isEnough = (votes: ApprovalCase['votes']) =>
      isQuorum(
        approvals,
        ruling,
        one.event,
        votes.map(({ approver }) => approver),
      );
    const sure = one.votes.filter(({ isSure }) => isSure);
    if (ruling.then === 'never' || !isEnough(sure)) return false;
    return this.#isFirst(one, approvals) || isEnough(sure.filter(({ isOwn }) => isOwn));
  }

  #isFirst({ event }: ApprovalCase, { group }: Settings['approvals']): boolean {
    return group.submit === 'every' || rankOf(event, this.#name) === 0;
  }
}
