// Decisions of `policy test` → lines of text for a terminal: sentences, then a table.
import type { PassedRule } from '../../approvals/rules/explain.ts';
import { toRfc3339Seconds } from '../../formats/dates.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import type { Decision, Judged } from './decision.ts';
import { grouped, tableLines } from './table.ts';

/** How many machines a line names at most. */
const NAMED = 4;

/**
 * Returns for each decision a line with its time and event, then the ruling, then why no earlier rule matches. Equal
 * decisions of one time are reported once, with their number. A table of all events follows.
 */
export function reportLines(judged: readonly Judged[]): readonly string[] {
  const groups = grouped(
    judged.map(({ decision, missesWindows }) => {
      const words = [
        eventWords(decision),
        rulingWords(decision, missesWindows),
        ...decision.passedOver.map(passedWords),
      ];
      return { decision, text: words.map(visibleLine).join('\n    ') };
    }),
  );
  const sentences = groups.flatMap(({ decision, text, count }) =>
    `  ${decision.at}  ${count === 1 ? visibleLine(decision.eventId) : `${count} events`}  ${text}`.split('\n'),
  );
  return [...sentences, ...tableLines(judged.map(({ decision }) => decision))];
}

function eventWords({ eventType, eventSource, resources, notBefore, durationInSeconds: seconds }: Decision): string {
  const length = seconds < 0 ? 'of unknown length' : `${seconds}s`;
  const when = notBefore === null ? 'without NotBefore' : `not before ${notBefore}`;
  return `${eventType || 'an event without type'} of ${namesOf(resources)} from ${eventSource || 'an unknown source'}, ${length}, ${when}`;
}

function namesOf(names: readonly string[]): string {
  if (names.length === 0) return 'no machine';
  const left = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (left > 0 ? ` and ${left} more` : '');
}

function rulingWords(decision: Decision, missesWindows: boolean): string {
  const missed = missesWindows ? ': none of its windows opens before NotBefore' : '';
  const rule = `${decision.policy ?? 'no rule matches'}${missed}`;
  switch (decision.then) {
    case 'approve':
      return missesWindows ? `${rule}, so it is left to Azure` : `${rule}: ${approvalWords(decision)}`;
    case 'wait':
      return `${rule}: wait ${waitWords(decision)}${deadlineWords(decision)}`;
    case 'never':
      return decision.policy === null
        ? 'never: the event is only advice, and there is nothing to start'
        : `${rule}: never`;
    default:
      return 'nothing to decide: the event has started';
  }
}

function approvalWords({ at, window, nextStep, heldBackBy }: Decision): string {
  const budgets = heldBackBy.length > 0 ? `as soon as ${budgetWords(heldBackBy)}` : null;
  if (window !== null) {
    const opensMs = nextStep.action === 'approve' && nextStep.at !== null ? Date.parse(nextStep.at) : null;
    const when = opensMs === null || opensMs <= Date.parse(at) ? null : `at ${toRfc3339Seconds(opensMs)}`;
    return ['approve', budgets ?? when, `in the window ${window}`].filter((part) => part !== null).join(' ');
  }
  return budgets === null ? 'approve at once' : `approve ${budgets}`;
}

function budgetWords(names: readonly string[]): string {
  return names.length === 1 ? `the budget ${names[0]} allows it` : `the budgets ${names.join(', ')} allow it`;
}

function waitWords({ required, waitingFor, canBeApproved }: Decision): string {
  if (waitingFor.length === 0) return 'until NotBefore, when Azure starts it: no approver may approve this event';
  const names = waitingFor.join(', ');
  const isOne = waitingFor.length === 1;
  const count = required === 'any' ? 'any of ' : typeof required === 'number' ? `${required} of ` : 'all of ';
  const who = isOne && typeof required !== 'number' ? names : `${count}${names}`;
  return canBeApproved
    ? `for ${who}`
    : `for ${who}, but too few approvers may approve this event: Azure starts it at NotBefore`;
}

function deadlineWords({ deadline }: Decision): string {
  if (deadline === null) return '';
  const { at, then, because } = deadline;
  if (because === 'past') return `; its deadline ${at} has passed, so the event is left to Azure`;
  if (because === 'resources')
    return `; at ${at} it is left to Azure, because the rule's resources do not cover every machine`;
  return then === 'approve' ? `; approve at ${at} if it is still waiting` : `; at ${at} it is left to Azure`;
}

function passedWords({ rule, index, unmet }: PassedRule): string {
  const name = rule === 'documentation' ? `${rule} (its rule ${index + 1})` : rule;
  return `not ${name}: ${unmet.map(({ because }) => because).join('; ')}`;
}
