// Policy, event and time → the rule that decides, and its decision (behaviour 8.4). Pure.
import { compileGlobs, type Reach } from '../../conditions/globs.ts';
import { type EventMatcher, eventMatchers } from '../../conditions/matchers.ts';
import type { ScheduledEvent } from '../../model/events.ts';
import { ruleId } from '../../model/ids.ts';
import type { PolicyOptions, PolicyRule, Required } from './options.ts';

/** What the first rule that matches says. */
export interface PolicyDecision {
  /** `documentation`, `policy[N]` counted from 0; null where none matches, and then it is to wait. */
  readonly policy: string | null;
  /** The rule's content, by `ruleId`; null where `policy` is. */
  readonly rule: string | null;
  readonly then: PolicyRule['then'];
  readonly required: Required;
  /** `leave` where a name in Resources does not match the rule's globs, as an approval reaches them all. */
  readonly deadline: { readonly beforeMs: number; readonly then: 'approve' | 'leave' } | null;
}

/** Judges one event at a wall time in milliseconds; a SpotRebalanceRecommendation is never approved. */
export type Policy = (event: ScheduledEvent, nowMs: number) => PolicyDecision;

/** A rule made ready. */
export interface CompiledRule {
  /** As `PolicyDecision.policy` calls it. */
  readonly policy: string;
  /** Its content, as `PolicyDecision.rule` calls it. */
  readonly id: string;
  readonly rule: PolicyRule;
  /** It matches where all of them do. */
  readonly matchers: readonly EventMatcher[];
  /** Whether its `resources` match every name of the event; true where it has none. */
  coversAll(event: ScheduledEvent): boolean;
}

const DOCUMENTATION: readonly PolicyRule[] = [
  { when: { initiators: ['User'] }, then: 'approve' },
  { when: { impacts: ['Freeze'], duration: { minMs: 0, belowMs: 9000 } }, then: 'approve' },
];

/** Azure only recommends to move such a machine: there is nothing to start. */
export function isOnlyAdvice({ eventType }: Pick<ScheduledEvent, 'eventType'>): boolean {
  return eventType.toLowerCase() === 'spotrebalancerecommendation';
}

/**
 * The first rule that matches decides; without a match, and without a policy (null), the event waits for those that `required` asks for.
 * @param required `approvals.required`
 */
export function compilePolicy(options: PolicyOptions | null, required: Required): Policy {
  const rules = compileRules(options);
  return (event, nowMs) => {
    if (isOnlyAdvice(event)) return { policy: null, rule: null, then: 'never', required, deadline: null };
    const decisive = rules.find(({ matchers }) => matchers.every((matcher) => matcher.matches(event, nowMs)));
    return decisive ? rulingOf(decisive, event, required) : { policy: null, rule: null, then: 'wait', required, deadline: null };
  };
}

/** In their order. */
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

/** An approval reaches all Resources, so a rule that approves must match them all. */
export function reachOf({ then }: PolicyRule): Reach {
  return then === 'approve' ? 'every' : 'any';
}

function rulingOf({ policy, id, rule, coversAll }: CompiledRule, event: ScheduledEvent, required: Required): PolicyDecision {
  const { then, deadline } = rule;
  if (then !== 'wait') return { policy, rule: id, then, required, deadline: null };
  const atDeadline = deadline && (coversAll(event) ? deadline : { ...deadline, then: 'leave' as const });
  return { policy, rule: id, then, required: rule.required ?? required, deadline: atDeadline ?? null };
}
