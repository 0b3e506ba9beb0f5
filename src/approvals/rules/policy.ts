// Policy, event and time → the rule that decides, and its decision (behaviour 8.4). Pure.
import { compileGlobs, type Reach } from '../../conditions/globs.ts';
import { type EventMatcher, eventMatchers } from '../../conditions/matchers.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import { ruleId } from '../../model/ids.ts';
import type { PolicyOptions, PolicyRule, Required } from './options.ts';

/** The decision of the first rule that matches. */
export interface PolicyDecision {
  /** `documentation`, or `policy[N]` counted from 0; null if no rule matches, and then the event waits. */
  readonly policy: string | null;
  /** The `ruleId` of the rule's content; null if `policy` is null. */
  readonly rule: string | null;
  readonly then: PolicyRule['then'];
  readonly required: Required;
  /**
   * `then` is `leave` if a name in Resources does not match the globs of the rule, because an approval affects all
   * Resources.
   */
  readonly deadline: { readonly beforeMs: number; readonly then: 'approve' | 'leave' } | null;
  /** The windows during which the rule approves; empty: at any time. */
  readonly during: readonly string[];
  /** What the event does if none of them opens before its NotBefore; null: it is left to Azure. */
  readonly otherwise: 'wait' | null;
  /** The budgets that an approval by the rule must fit. */
  readonly budgets: readonly string[];
}

/** Decides about one event at a wall time in milliseconds; a SpotRebalanceRecommendation is never approved. */
export type Policy = (event: ScheduledEvent, nowMs: number) => PolicyDecision;

export interface CompiledRule {
  /** Its name, as in `PolicyDecision.policy`. */
  readonly policy: string;
  /** Its `ruleId`, as in `PolicyDecision.rule`. */
  readonly id: string;
  readonly rule: PolicyRule;
  /** The rule matches if all of them match. */
  readonly matchers: readonly EventMatcher[];
  /** Whether `resources` match every name in Resources; true if the rule has no `resources`. */
  coversAll(event: ScheduledEvent): boolean;
}

const DOCUMENTATION: readonly PolicyRule[] = [
  { when: { initiators: ['User'] }, then: 'approve' },
  { when: { impacts: ['Freeze'], duration: { minMs: 0, belowMs: 9000 } }, then: 'approve' },
];

const NO_RULE = { policy: null, rule: null, deadline: null, during: [], otherwise: null, budgets: [] } as const;

/** Whether Azure only recommends to move the machine. Such an event never starts. */
export function isOnlyAdvice({ eventType }: Pick<ScheduledEvent, 'eventType'>): boolean {
  return eventType.toLowerCase() === 'spotrebalancerecommendation';
}

/**
 * Returns a policy in which the first rule that matches decides. If no rule matches or `options` is null, the event
 * waits for `required`.
 * @param required `approvals.required`
 */
export function compilePolicy(options: PolicyOptions | null, required: Required): Policy {
  const rules = compileRules(options);
  return (event, nowMs) => {
    if (isOnlyAdvice(event)) return { ...NO_RULE, then: 'never', required };
    const decisive = rules.find(({ matchers }) => matchers.every((matcher) => matcher.matches(event, nowMs)));
    return decisive ? rulingOf(decisive, event, required) : { ...NO_RULE, then: 'wait', required };
  };
}

/** Returns the rules in the configured order. */
export function compileRules(options: PolicyOptions | null): readonly CompiledRule[] {
  const rules = options === 'documentation' ? DOCUMENTATION : (options ?? []);
  return rules.map((rule, index) => {
    const { resources } = rule.when;
    const every = resources ? compileGlobs(resources).every : () => true;
    return {
      policy: options === 'documentation' ? options : `policy[${index}]`,
      id: ruleId(rule),
      rule,
      matchers: eventMatchers(rule.when, reachOf(rule)),
      coversAll: (event) => every(event.resources),
    };
  });
}

/** An approval affects all Resources, so a rule that approves must match all of them. */
export function reachOf({ then }: PolicyRule): Reach {
  return then === 'approve' ? 'every' : 'any';
}

function rulingOf(
  { policy, id, rule, coversAll }: CompiledRule,
  event: ScheduledEvent,
  required: Required,
): PolicyDecision {
  const { then, deadline, during = [], otherwise = null, budgets = [] } = rule;
  const ruling = { policy, rule: id, then, during, otherwise, budgets };
  if (then !== 'wait' && otherwise === null) return { ...ruling, required, deadline: null };
  const atDeadline = deadline && (coversAll(event) ? deadline : { ...deadline, then: 'leave' as const });
  return { ...ruling, required: rule.required ?? required, deadline: atDeadline ?? null };
}
