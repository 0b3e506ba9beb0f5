// The events of one bridge → whether one more approval of a rule may, or must, fit its budgets.
import type { ApprovalCase } from './approval-case.ts';
import { keyOf } from './listed-event.ts';
import type { Ruling } from './policy.ts';
import { exceeded, type Use } from './usage.ts';

/** The longest rest of a budget, and the furthest jump of a clock. */
const LONGEST_REST_MS = 10 * 60_000;
/** How exactly the end of an event is known. */
const ENDED_WITHIN_MS = 5000;

export class BudgetUses {
  readonly #cases: ReadonlyMap<string, ApprovalCase>;
  /** Events that have ended; those that were not in use for sure only count against an approval that must be. */
  readonly #ended: (Use & { readonly isSure: boolean })[] = [];
  #jumpedMs = Number.NEGATIVE_INFINITY;

  /** @param cases the open ones, as they are at each moment */
  constructor(cases: ReadonlyMap<string, ApprovalCase>) {
    this.#cases = cases;
  }

  ended(key: string, one: ApprovalCase, atMs: number): void {
    this.#ended.push({ key, event: one.event, endedMs: atMs, isSure: one.isInUse });
  }

  jumped(atMs: number): void {
    this.#jumpedMs = atMs;
  }

  /**
   * Whether the bridge may believe that no budget is exceeded.
   * @param cases the open ones that it knows
   */
  isWithin(one: ApprovalCase, { budgets }: Ruling, atMs: number, cases = this.#cases): boolean {
    if (budgets.length === 0) return true;
    const open = othersOf(one, cases).filter((other) => other.isInUse && !mayComeAfter(other, one, budgets, atMs));
    const ended = this.#hasJumped(atMs) ? [] : this.#ended.filter(({ isSure }) => isSure);
    return exceeded(budgets, one.event, [...open.map(useOf), ...ended], atMs, -ENDED_WITHIN_MS) === null;
  }

  /** Whether no budget is exceeded, whatever the others came to. */
  isSurelyWithin(one: ApprovalCase, { budgets }: Ruling, atMs: number): boolean {
    if (budgets.length === 0) return true;
    if (this.#hasJumped(atMs)) return false;
    return (
      exceeded(
        budgets,
        one.event,
        [...othersOf(one, this.#cases).map(useOf), ...this.#ended],
        atMs,
        ENDED_WITHIN_MS,
      ) === null
    );
  }

  /**
   * Those that rules have posted within a budget share it.
   * @returns the EventIds that exceed it together with this one; null: none do
   */
  exceededWith(
    one: ApprovalCase,
    { budgets }: Ruling,
    atMs: number,
    cases: ReadonlyMap<string, ApprovalCase>,
  ): readonly string[] | null {
    const others = othersOf(one, cases).filter(
      (other) => other.usesBudget && other.isInUse && !mayComeAfter(other, one, budgets, atMs),
    );
    const isExceeded = exceeded(budgets, one.event, others.map(useOf), atMs) !== null;
    return isExceeded ? others.map(({ event }) => event.EventId) : null;
  }

  #hasJumped(atMs: number): boolean {
    return atMs - this.#jumpedMs < LONGEST_REST_MS;
  }
}

function othersOf(one: ApprovalCase, cases: ReadonlyMap<string, ApprovalCase>): readonly ApprovalCase[] {
  return [...cases.values()].filter((other) => other !== one);
}

/**
 * Of two that are posted in one moment, the last may have been decided first. An event that exceeds a budget alone then
 * fits beside it if it names the same machines; the other way round, it would not.
 */
function mayComeAfter(
  { postedMs, usesBudget, event }: ApprovalCase,
  one: ApprovalCase,
  budgets: Ruling['budgets'],
  atMs: number,
): boolean {
  return usesBudget && postedMs === atMs && exceeded(budgets, event, [useOf(one)], atMs) === null;
}

function useOf({ event }: ApprovalCase): Use {
  return { key: keyOf(event.EventId), event, endedMs: null };
}
