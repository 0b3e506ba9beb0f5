// The keys of `approvals` that say who decides what → schema and types.
import * as v from 'valibot';
import { globs, ruleConditions } from '../../conditions/options.ts';
import { durationBetween, type OptionsOf, texts } from '../../schema/pieces.ts';

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
    ...ruleConditions({
      resources: 'Globs for names in Resources, without case: every name must match where the rule approves, one elsewhere.',
      notice: 'How far ahead NotBefore lies when the event is judged.',
    }),
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

/** What one approver may approve. */
export const scope = v.pipe(
  v.strictObject({
    impacts: v.exactOptional(texts('Only events of these EventTypes, without case.')),
    resources: v.exactOptional(globs('Only events whose Resources all match one of these globs, without case.')),
  }),
  v.description('What this approver may approve. Default: everything.'),
);

const members = v.pipe(
  v.array(v.pipe(v.string(), v.minLength(1))),
  v.minLength(1, 'must not be empty: leave the key out where only the machines that an event names submit'),
  v.check((names) => new Set(names.map((name) => name.toLowerCase())).size === names.length, 'names a machine twice, without case'),
  v.description('Names of machines that submit too, behind those that an event names, in this order. Only with submit: leader.'),
);

export const group = v.pipe(
  v.strictObject({
    submit: v.optional(
      v.pipe(
        v.picklist(['every', 'leader']),
        v.description('leader: one machine after the other submits, while the event is still Scheduled. every: each one, at once.'),
      ),
      'every',
    ),
    failoverAfter: v.optional(
      durationBetween('100ms', '1h', 'With submit: leader, how long each machine waits for the one before it.'),
      '10s',
    ),
    members: v.exactOptional(members),
  }),
  v.forward(
    v.check((given) => given.members === undefined || given.submit === 'leader', 'is only for submit: leader'),
    ['members'],
  ),
  v.transform(({ submit, failoverAfter, members: names = [] }) => ({ submit, failoverAfterMs: failoverAfter, members: names })),
  v.description('Which machine of a group submits what a policy, or a source that each bridge reads, decides.'),
);

/** Any one approver, all whose scope touches the event, so many, or all of these names. */
export type Required = OptionsOf<ReturnType<typeof required>>;
/** Of `resources`, every name where the rule approves, and there must be one; any name elsewhere. */
export type PolicyRule = OptionsOf<typeof rule>;
/** `documentation`: the sample policy of Microsoft's page (protocol 7.5). */
export type PolicyOptions = OptionsOf<typeof policy>;
export type ScopeOptions = OptionsOf<typeof scope>;
/** `every`: each bridge posts what it decided; `leader`: in the order of their ranks, as long as the event is Scheduled. */
export type GroupOptions = OptionsOf<typeof group>;
