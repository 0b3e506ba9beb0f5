// `approvals.policy` of the configuration, an event and the time → which rule governs it and what that says (behaviour 8.4). Pure.
import { compileGlobs, type EventConditions, type EventMatcher, eventMatchers } from '../../model/conditions.ts';
import type { ScheduledEvent } from '../../model/events.ts';

/** Any one approver, all whose scope touches the event, so many, or all of these names. */
export type Required = 'any' | 'all' | number | readonly string[];

/** All that are given must match; of `resources`, every name where the rule approves, and there must be one; any name elsewhere. */
export type PolicyConditions = EventConditions;

export interface PolicyRule {
  readonly when: PolicyConditions;
  /** `approve` at once; `wait` for approvers; `never`: this bridge posts no StartRequest for it. */
  readonly then: 'approve' | 'wait' | 'never';
  /** Of a rule that waits: in place of `approvals.required`. */
  readonly required?: Required | undefined;
  /** Of a rule that waits: so long before NotBefore, if still waiting. */
  readonly deadline?: { readonly beforeMs: number; readonly then: 'approve' | 'leave' } | undefined;
}

/** `documentation`: the sample policy of Microsoft's page (protocol 7.5). */
export type PolicyOptions = 'documentation' | readonly PolicyRule[];

/** What the first rule that matches says. */
export interface Ruling {
  /** `documentation`, `policy[N]` counted from 0; null where none matches, and then it is to wait. */
  readonly policy: string | null;
  readonly then: PolicyRule['then'];
  readonly required: Required;
  /** `leave` where a name in Resources does not match the rule's globs, as an approval reaches them all. */
  readonly deadline: { readonly beforeMs: number; readonly then: 'approve' | 'leave' } | null;
}

/** Judges one event at a wall time in milliseconds; a SpotRebalanceRecommendation is never approved. */
export type Policy = (event: ScheduledEvent, nowMs: number) => Ruling;

/** A rule made ready. */
export interface CompiledRule {
  /** As `Ruling.policy` calls it. */
  readonly policy: string;
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
    if (isOnlyAdvice(event)) return { policy: null, then: 'never', required, deadline: null };
    const decisive = rules.find(({ matchers }) => matchers.every((matcher) => matcher.matches(event, nowMs)));
    return decisive ? rulingOf(decisive, event, required) : { policy: null, then: 'wait', required, deadline: null };
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
      rule,
      matchers: eventMatchers(rule.when, rule.then === 'approve' ? 'every' : 'any'),
      coversAll: (event) => every(event.resources),
    };
  });
}

function rulingOf({ policy, rule, coversAll }: CompiledRule, event: ScheduledEvent, required: Required): Ruling {
  const { then, deadline } = rule;
  if (then !== 'wait') return { policy, then, required, deadline: null };
  const atDeadline = deadline && (coversAll(event) ? deadline : { ...deadline, then: 'leave' as const });
  return { policy, then, required: rule.required ?? required, deadline: atDeadline ?? null };
}
