// Decisions of `policy test` → lines for people.
import type { PassedRule } from '../approvals/rules/explain.ts';
import { visibleLine } from '../formats/visible-text.ts';
import type { Decision } from './policy-decision.ts';

/** How many machines a line names at most. */
const NAMED = 4;

/**
 * Returns for each decision a line with its time and event, then the ruling, then why no earlier rule matches. Equal decisions of one time are
 * reported once, with their number.
 */
export function reportLines(decisions: readonly Decision[]): readonly string[] {
  const groups: { readonly first: Decision; readonly text: string; count: number }[] = [];
  for (const decision of decisions) {
    const words = [eventWords(decision), rulingWords(decision), ...decision.passedOver.map(passedWords)];
    const text = words.map(visibleLine).join('\n    ');
    const last = groups.at(-1);
    if (last && last.text === text && last.first.at === decision.at) last.count++;
    else groups.push({ first: decision, text, count: 1 });
  }
  return groups.flatMap(({ first, text, count }) =>
    `  ${first.at}  ${count === 1 ? visibleLine(first.eventId) : `${count} events`}  ${text}`.split('\n'),
  );
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

function rulingWords(decision: Decision): string {
  const rule = decision.policy ?? 'no rule matches';
  switch (decision.then) {
    case 'approve':
      return `${rule}: approve at once`;
    case 'wait':
      return `${rule}: wait ${waitWords(decision)}${deadlineWords(decision)}`;
    case 'never':
      return decision.policy === null ? 'never: the event is only advice, and there is nothing to start' : `${rule}: never`;
    default:
      return 'nothing to decide: the event has started';
  }
}

function waitWords({ required, waitingFor, canBeApproved }: Decision): string {
  if (waitingFor.length === 0) return 'until NotBefore, when Azure starts it: no approver may approve this event';
  const names = waitingFor.join(', ');
  const isOne = waitingFor.length === 1;
  const count = required === 'any' ? 'any of ' : typeof required === 'number' ? `${required} of ` : 'all of ';
  const who = isOne && typeof required !== 'number' ? names : `${count}${names}`;
  return canBeApproved ? `for ${who}` : `for ${who}, but too few approvers may approve this event: Azure starts it at NotBefore`;
}

function deadlineWords({ deadline }: Decision): string {
  if (deadline === null) return '';
  const { at, then, because } = deadline;
  if (because === 'past') return `; its deadline ${at} has passed, so the event is left to Azure`;
  if (because === 'resources') return `; at ${at} it is left to Azure, because the rule's resources do not cover every machine`;
  return then === 'approve' ? `; approve at ${at} if it is still waiting` : `; at ${at} it is left to Azure`;
}

function passedWords({ rule, index, unmet }: PassedRule): string {
  const name = rule === 'documentation' ? `${rule} (its rule ${index + 1})` : rule;
  return `not ${name}: ${unmet.map(({ because }) => because).join('; ')}`;
}
