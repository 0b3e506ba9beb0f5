// A policy and an event → the rules up to the deciding one, and their unmet conditions. Pure.
import type { ConditionName } from '../../conditions/options.ts';
import { askedFor, foundIn } from '../../conditions/words.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import type { PolicyOptions, PolicyRule } from './options.ts';
import { type CompiledRule, compileRules, isOnlyAdvice, reachOf } from './policy.ts';

/** A condition that the event does not meet. */
interface Unmet {
  readonly condition: ConditionName;
  /** The value that the rule requires and the value of the event: `asks for Freeze, and it is Reboot`. */
  readonly because: string;
}

/** A rule that did not match. */
export interface PassedRule {
  /** Its name, as in `PolicyDecision.policy`. */
  readonly rule: string;
  /** Its index, counted from 0: all rules of `documentation` have the same name. */
  readonly index: number;
  readonly unmet: readonly Unmet[];
}

interface Explanation {
  /** The rules before the decisive one; all rules if none decides. */
  readonly passedOver: readonly PassedRule[];
  /** The rule that decides, as configured; null if none does. */
  readonly decisive: PolicyRule | null;
}

/** Gives the same decisions as `compilePolicy`. No rule is applied to an event that is only a recommendation. */
export function compileExplanation(
  options: PolicyOptions | null,
): (event: ScheduledEvent, nowMs: number) => Explanation {
  const rules = compileRules(options);
  return (event, nowMs) => {
    if (isOnlyAdvice(event)) return { passedOver: [], decisive: null };
    const tried = rules.map((rule, index) => ({ rule: rule.policy, index, unmet: unmetOf(rule, event, nowMs) }));
    const place = tried.findIndex(({ unmet }) => unmet.length === 0);
    const passedOver = place === -1 ? tried : tried.slice(0, place);
    return { passedOver, decisive: rules[place]?.rule ?? null };
  };
}

function unmetOf({ rule, matchers }: CompiledRule, event: ScheduledEvent, nowMs: number): readonly Unmet[] {
  const failed = matchers.filter((matcher) => !matcher.matches(event, nowMs));
  return failed.map(({ condition }) => ({
    condition,
    because: `asks for ${askedFor[condition](rule.when, reachOf(rule))}, and ${foundIn[condition](event, nowMs)}`,
  }));
}
