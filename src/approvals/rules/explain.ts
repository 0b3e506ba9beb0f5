// `approvals.policy` and an event → each rule up to the one that decides, and the conditions that it does not meet, in words. Pure.
import { formatDuration } from '../../formats/durations.ts';
import { type ConditionName, noticeMs } from '../../model/conditions.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import { type CompiledRule, compileRules, isOnlyAdvice, type PolicyConditions, type PolicyOptions, type PolicyRule } from './policy.ts';

/** A condition that the event does not meet. */
export interface Unmet {
  readonly condition: ConditionName;
  /** What the rule asks for and what the event has: `asks for Freeze, and it is Reboot`. */
  readonly because: string;
}

/** A rule that was passed over. */
export interface PassedRule {
  /** As `Ruling.policy` calls it. */
  readonly rule: string;
  /** Its place, counted from 0: the rules of `documentation` all have the same name. */
  readonly index: number;
  readonly unmet: readonly Unmet[];
}

export interface Explanation {
  /** Those before the one that decides; all of them where none does. */
  readonly passedOver: readonly PassedRule[];
  /** The rule that decides, as it was written; null where none does. */
  readonly decisive: PolicyRule | null;
}

/** Agrees with `compilePolicy`. No rule is asked about an event that is only advice. */
export function compileExplanation(options: PolicyOptions | null): (event: ScheduledEvent, nowMs: number) => Explanation {
  const rules = compileRules(options);
  return (event, nowMs) => {
    if (isOnlyAdvice(event)) return { passedOver: [], decisive: null };
    const judged = rules.map((rule, index) => ({ rule: rule.policy, index, unmet: unmetOf(rule, event, nowMs) }));
    const place = judged.findIndex(({ unmet }) => unmet.length === 0);
    const passedOver = place === -1 ? judged : judged.slice(0, place);
    return { passedOver, decisive: rules[place]?.rule ?? null };
  };
}

function unmetOf({ rule, matchers }: CompiledRule, event: ScheduledEvent, nowMs: number): readonly Unmet[] {
  const failed = matchers.filter((matcher) => !matcher.matches(event, nowMs));
  return failed.map(({ condition }) => ({
    condition,
    because: `asks for ${ASKED[condition](rule)}, and ${FOUND[condition](event, nowMs)}`,
  }));
}

const ASKED: Readonly<Record<ConditionName, (rule: PolicyRule) => string>> = {
  impacts: ({ when }) => alternatives(when.impacts),
  initiators: ({ when }) => alternatives(when.initiators),
  resources: ({ when, then }) => `${then === 'approve' ? 'every name' : 'a name'} to match ${alternatives(when.resources)}`,
  notice: ({ when }) => noticeAsked(when.notice ?? {}),
  duration: ({ when }) => durationAsked(when.duration ?? {}),
};

const FOUND: Readonly<Record<ConditionName, (event: ScheduledEvent, nowMs: number) => string>> = {
  impacts: ({ eventType }) => `it is ${eventType || 'of no type'}`,
  initiators: ({ eventSource }) => `it is from ${eventSource || 'nobody'}`,
  resources: ({ resources }) => `it names ${resources.join(', ') || 'nobody'}`,
  notice: (event, nowMs) => `there is ${spanOf(noticeMs(event, nowMs))}`,
  duration: ({ durationInSeconds: seconds }) => (seconds < 0 ? 'it is unknown' : `it is ${seconds}s`),
};

function alternatives(texts: readonly string[] = []): string {
  return texts.join(' or ');
}

function noticeAsked({ aboveMs, belowMs }: NonNullable<PolicyConditions['notice']>): string {
  const limits = [limit('more than', aboveMs), limit('less than', belowMs)].filter((text) => text !== '');
  return `${limits.join(' and ')} until NotBefore`;
}

function durationAsked({ minMs, belowMs }: NonNullable<PolicyConditions['duration']>): string {
  const limits = [limit('at least', minMs), limit('less than', belowMs)].filter((text) => text !== '');
  return `an interruption of ${limits.join(' and ')}`;
}

function limit(words: string, ms: number | undefined): string {
  return ms === undefined ? '' : `${words} ${ms === 0 ? '0s' : formatDuration(ms)}`;
}

/** In whole seconds, as the fraction is an accident of the moment. */
function spanOf(ms: number): string {
  let seconds = Math.ceil(ms / 1000);
  if (seconds === 0) return 'no time left';
  const parts: string[] = [];
  for (const [unit, length] of UNITS) {
    const count = Math.floor(seconds / length);
    if (count > 0) parts.push(`${count}${unit}`);
    seconds -= count * length;
  }
  return `${parts.join(' ')} left`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;
