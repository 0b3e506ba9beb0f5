// What was said about an event, rules, a moment → why a StartRequest may go out, or why not.
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import type { ApprovalCase } from './approval-case.ts';
import type { BudgetUses } from './budget-uses.ts';
import { keyOf, type ListedEvent } from './listed-event.ts';
import { isQuorum, type Ruling, rankOf, rulingOf, secondsOf } from './policy.ts';
import { isDue, isOpen, openSince } from './terms.ts';

/** A document must not be older when a StartRequest goes out. */
export const FRESH_MS = 10_000;

export type At = Pick<Observation, 'atMs' | 'wallMs'>;

export class Grounds {
  readonly #name: string;
  readonly #budgets: BudgetUses;
  /** By event: when an approval of it was first told on the topic. */
  readonly #toldMs = new Map<string, number>();
  #failedMs = Number.NEGATIVE_INFINITY;

  /** @param name of the machine */
  constructor(name: string, budgets: BudgetUses) {
    this.#name = name;
    this.#budgets = budgets;
  }

  told(key: string, atMs: number): void {
    this.#toldMs.set(key, this.#toldMs.get(key) ?? atMs);
  }

  commitFailed(atMs: number): void {
    this.#failedMs = atMs;
  }

  /** Whether a commit has failed since a StartRequest could rest on the document before it. */
  mayBeUnstored(atMs: number): boolean {
    return atMs - this.#failedMs < FRESH_MS;
  }

  /** Whether a commit has failed at or after this moment. */
  hasFailedSince(atMs: number): boolean {
    return this.#failedMs >= atMs;
  }

  /**
   * Null if something justifies it under these settings.
   * @param cases the open ones that the bridge knows; default: all
   */
  reasonAgainst(
    one: ApprovalCase,
    settings: Settings,
    event: ListedEvent,
    at: At,
    cases?: ReadonlyMap<string, ApprovalCase>,
  ): string | null {
    const { approvals } = settings;
    if (approvals.dryRun) return 'this is a dry run';
    const ruling = rulingOf(approvals, event);
    if (ruling.then === 'never') return 'the rule says never';
    const own = one.votes.map(({ approver }) => approver);
    const toldMs = this.#toldMs.get(keyOf(event.EventId));
    const voters = toldMs === undefined ? own : [...own, 'desk'];
    const isVoted = this.isVoted(one, settings, ruling, event);
    if (isVoted && one.votes.some(({ isOwn }) => isOwn)) return null;
    const byRule = this.#ruleSince(one, ruling, event, at, cases);
    const since = [
      ...(typeof byRule === 'number' ? [byRule] : []),
      ...(isVoted ? [Math.max(one.firstMs, toldMs ?? 0), one.carriedMs ?? Number.POSITIVE_INFINITY] : []),
    ];
    if (since.length === 0)
      return `no rule, deadline or quorum approves it: ${byRule}, and no quorum (${voters.join(', ') || 'nobody'} said yes)`;
    const { submit, failoverAfter = '10s' } = approvals.group;
    if (submit === 'every') return null;
    const rank = rankOf(event, this.#name);
    if (rank === null) return 'in this group only machines that the event names submit';
    const turnMs = Math.min(...since) + rank * secondsOf(failoverAfter) * 1000;
    return one.hasJumped || at.atMs >= turnMs ? null : `the turn of rank ${rank} comes at ${turnMs} ms`;
  }

  /** Since when the rule of these settings decides it; null: it does not. */
  ruledSince(one: ApprovalCase, { approvals }: Settings, at: At): number | null {
    const since = this.#ruleSince(one, rulingOf(approvals, one.event), one.event, at);
    return typeof since === 'number' ? since : null;
  }

  /** A decision of a rule stands without a break if approvers have decided when the rule no longer does. */
  carriedOver(one: ApprovalCase, settings: Settings, ruledMs: number | null): number | null {
    const isVoted = this.isVoted(one, settings, rulingOf(settings.approvals, one.event), one.event);
    return isVoted ? (ruledMs ?? one.carriedMs) : null;
  }

  /** If its rule and approvers have both decided it, their decision is as old as the rule's, also after its window. */
  carry(one: ApprovalCase, settings: Settings, at: At): void {
    one.carriedMs ??= this.carriedOver(one, settings, this.ruledSince(one, settings, at));
  }

  /** Since when its rule, or the deadline of that, approves it; or why it does not. */
  #ruleSince(
    one: ApprovalCase,
    ruling: Ruling,
    event: ListedEvent,
    { atMs, wallMs }: At,
    cases?: ReadonlyMap<string, ApprovalCase>,
  ): number | string {
    const isByDeadline = one.wasDue || isDue(ruling, event, wallMs);
    const openMs = ruling.then === 'approve' ? (one.openMs ?? openSince(one, ruling, atMs, wallMs)) : null;
    if (ruling.then !== 'approve' && !isByDeadline) return 'its rule does not approve';
    if (ruling.during !== null && !isByDeadline) {
      if (openMs === null) return 'no window of its rule has opened before NotBefore';
      if (!isOpen(ruling, wallMs)) return 'no window of its rule is open';
    }
    // Without a store nothing is taken back.
    if (!this.mayBeUnstored(atMs) && !this.#budgets.isWithin(one, ruling, atMs, cases))
      return 'a budget of its rule is exceeded';
    return ruling.during === null || isByDeadline ? one.firstMs : Math.max(one.firstMs, openMs ?? one.firstMs);
  }

  /** Whether all that may have been said is a quorum. */
  isVoted(one: ApprovalCase, { approvals }: Settings, ruling: Ruling, event: ListedEvent): boolean {
    const own = one.votes.map(({ approver }) => approver);
    return isQuorum(approvals, ruling, event, this.#toldMs.has(keyOf(event.EventId)) ? [...own, 'desk'] : own);
  }
}
