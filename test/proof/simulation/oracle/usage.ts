// What a bridge has in use of its budgets → whether one more approval by a rule fits (section 13).
import type { BudgetSettings } from '../history.ts';
import { anyName } from './filter.ts';
import type { ListedEvent } from './listed-event.ts';

/** An event that counts, or may count, for budgets. */
export interface Use {
  readonly key: string;
  readonly event: ListedEvent;
  /** Virtual time at which its end was told; null: it is open. */
  readonly endedMs: number | null;
}

/** Names are compared without case, and count once. */
function namesIn({ resources }: BudgetSettings, { Resources }: ListedEvent): readonly string[] {
  return [...new Set(Resources.map((name) => name.toLowerCase()))].filter((name) => anyName(resources, [name]));
}

function isInUse({ rest }: BudgetSettings, { endedMs }: Use, atMs: number, slackMs: number): boolean {
  return endedMs === null || atMs < endedMs + Number.parseInt(rest ?? '0', 10) * 1000 + slackMs;
}

/**
 * The first budget that this event exceeds beside these uses, or null.
 * @param slackMs how much longer than their rest ended ones count
 */
export function exceeded(
  budgets: readonly BudgetSettings[],
  event: ListedEvent,
  uses: readonly Use[],
  atMs: number,
  slackMs = 0,
): BudgetSettings | null {
  const isExceeded = (budget: BudgetSettings) => {
    const own = namesIn(budget, event);
    const inUse = uses
      .filter((use) => isInUse(budget, use, atMs, slackMs))
      .flatMap((use) => namesIn(budget, use.event));
    // An event that exceeds it alone may go if no other name is in use.
    const others = new Set(inUse.filter((name) => !own.includes(name)));
    return own.length > 0 && others.size > 0 && others.size + own.length > budget.atMost;
  };
  return budgets.find(isExceeded) ?? null;
}
