// The keys of `approvals` that say whose yes is needed and which events need none: required and policy, schema and types.
import * as v from 'valibot';
import { duration, kindConditions, notice } from './event-conditions.ts';
import { durationBetween, texts } from './fields.ts';

/** Whose yes is needed. */
export function required(description: string) {
  return v.pipe(
    v.union(
      [
        v.picklist(['any', 'all']),
        v.pipe(v.number(), v.integer(), v.minValue(1)),
        v.pipe(
          v.array(v.string()),
          v.minLength(1),
          v.check((names) => new Set(names).size === names.length, 'names an approver twice'),
        ),
      ],
      'must be any, all, a whole number of at least 1, or a list of distinct names of approvers',
    ),
    v.description(description),
  );
}

const when = v.pipe(
  v.strictObject({
    ...kindConditions,
    resources: v.exactOptional(
      texts('Globs for names in Resources, without case: every name must match where the rule approves, one elsewhere.'),
    ),
    notice: v.exactOptional(notice('How far ahead NotBefore lies when the event is judged.')),
    duration: v.exactOptional(duration),
  }),
  v.description('Which events the rule is for: all conditions given must match. {}: every event.'),
);

const deadline = v.pipe(
  v.strictObject({
    before: durationBetween('1s', '365d', 'So long before NotBefore.'),
    then: v.optional(
      v.pipe(v.picklist(['approve', 'leave']), v.description('approve: the bridge does. leave: Azure starts the event at NotBefore.')),
      'leave',
    ),
  }),
  v.transform(({ before, then }) => ({ beforeMs: before, then })),
  v.description('Of a rule that waits: what becomes of an event that still waits then. Default: it waits until it starts.'),
);

const rule = v.pipe(
  v.strictObject({
    when,
    then: v.pipe(
      v.picklist(['approve', 'wait', 'never']),
      v.description('approve: at once. wait: for approvers. never: this bridge posts no StartRequest, and approvers get 403.'),
    ),
    required: v.exactOptional(required('Of a rule that waits: whose yes is needed. Default: approvals.required.')),
    deadline: v.exactOptional(deadline),
  }),
  v.forward(
    v.check((given) => given.required === undefined || given.then === 'wait', 'is only for a rule that waits: with then: wait'),
    ['required'],
  ),
  v.forward(
    v.check((given) => given.deadline === undefined || given.then === 'wait', 'is only for a rule that waits: with then: wait'),
    ['deadline'],
  ),
);

const POLICY = 'must be documentation, or a list of rules such as { when: { impacts: [Freeze] }, then: approve }';

/** `documentation` or rules; which of the two was meant is judged by the value's shape, so that a fault inside a rule is told where it is. */
function documentationOr<const Rules extends v.GenericSchema>(rules: Rules) {
  const preset = v.literal('documentation', POLICY);
  const union = v.union([preset, rules], POLICY);
  const run: (typeof union)['~run'] = (dataset, config) =>
    (Array.isArray(dataset.value) ? rules : preset)['~run'](dataset, config) as ReturnType<(typeof union)['~run']>;
  return { ...union, item: rule, '~run': run };
}

export const policy = v.pipe(
  documentationOr(v.pipe(v.array(rule), v.minLength(1, 'must not be empty: leave the key out, and every event waits for approvers'))),
  v.description(
    'Rules, the first of which that matches an event decides about it, or documentation: the sample policy of the documentation. Default: every event waits for approvers.',
  ),
);
