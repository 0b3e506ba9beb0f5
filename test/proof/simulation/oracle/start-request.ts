// One StartRequest and what the bridge may know → what is wrong with it, or whose yes justifies it.
import type { Settings } from '../history.ts';
import type { ApprovalCase } from './approval-case.ts';
import type { BudgetUses } from './budget-uses.ts';
import type { View } from './earlier-views.ts';
import type { Finding } from './finding.ts';
import { type At, FRESH_MS, type Grounds } from './grounds.ts';
import { keyOf } from './listed-event.ts';
import { rulingOf } from './policy.ts';

export type Wrong = Pick<Finding, 'fault' | 'what'>;

export interface Verdict {
  readonly wrongs: readonly Wrong[];
  /** The event as it is in this view. */
  readonly one: ApprovalCase | undefined;
  /** A rule within budgets approves it. */
  readonly usesBudget: boolean;
  /** The request whose yes is not answered yet, if nothing else justifies it. */
  readonly restsOn: number | null;
}

export interface StartRequestParts {
  readonly grounds: Grounds;
  readonly budgets: BudgetUses;
  /** Those in force first, then those of a reload in this moment. */
  readonly settings: readonly [Settings, ...Settings[]];
  readonly isAllHeld: boolean;
  readonly isHeldBySink: (one: ApprovalCase) => boolean;
  /** Whether this request has no answer yet. */
  readonly isOpen: (request: number) => boolean;
}

/** Judges the StartRequest for this event by one view. */
export function verdictOn(key: string, { document, cases }: View, at: At, parts: StartRequestParts): Verdict {
  const { grounds, budgets, settings, isAllHeld, isHeldBySink } = parts;
  const one = cases.get(key);
  const wrongs: Wrong[] = [];
  const wrong = (why: string) => wrongs.push({ fault: 'forbidden', what: `StartRequest for ${key}: ${why}` });
  if (one === undefined) {
    wrong('this bridge knows no such event');
    return { wrongs, one, usesBudget: false, restsOn: null };
  }
  const listed = document?.read.events.find(({ EventId }) => keyOf(EventId) === key);
  if (document === null || at.atMs - document.atMs > FRESH_MS) wrong('no good document of the last 10 s');
  if (listed?.EventStatus !== 'Scheduled') wrong('the last document does not list it as Scheduled');
  if (isAllHeld) wrong('an operator holds everything');
  if (one.holders.size > 0) wrong(`${[...one.holders].join(', ')} holds it`);
  if (isHeldBySink(one)) wrong('a sink holds it until it is prepared');
  if (one.submittedMs !== null)
    wrongs.push({ fault: 'twice', what: `${key} was accepted at ${one.submittedMs} ms, and posted again` });
  // While nothing can be stored, what was stored last counts.
  const events = [listed ?? one.event, ...(grounds.mayBeUnstored(at.atMs) ? [one.event] : [])];
  const reasons = () =>
    settings.flatMap((each) => events.map((event) => grounds.reasonAgainst(one, each, event, at, cases)));
  const isJustified = () => reasons().includes(null);
  if (!isJustified()) wrong(reasons()[0] ?? '');
  const [current] = settings;
  const ruling = rulingOf(current.approvals, one.event);
  const usesBudget = ruling.budgets.length > 0 && !grounds.isVoted(one, current, ruling, one.event);
  const others = usesBudget && settings.length === 1 ? budgets.exceededWith(one, ruling, at.atMs, cases) : null;
  if (others !== null) wrong(`a budget is exceeded together with ${others.join(', ')}`);
  return { wrongs, one, usesBudget, restsOn: isJustified() ? restsOn(one, isJustified, parts) : null };
}

function restsOn(one: ApprovalCase, isJustified: () => boolean, { isOpen }: StartRequestParts): number | null {
  const open = one.votes.filter(({ request }) => request !== null && isOpen(request));
  if (open.length !== 1) return null;
  const { votes } = one;
  one.votes = votes.filter((vote) => !open.includes(vote));
  const isOnly = !isJustified();
  one.votes = votes;
  return isOnly ? (open[0]?.request ?? null) : null;
}
