// The keys of `approvals` for required approvers, policy, scope and group → schema and types.
import * as v from 'valibot';
import { globs, ruleConditions } from '../../conditions/options.ts';
import { durationBetween, type OptionsOf, rules, texts } from '../../schema/pieces.ts';
import { termEntries, termFaults } from './window-options.ts';

/** Schema of the approvers whose approval is required. */
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
      resources:
        'Globs for names in Resources, without case. Every name must match if the rule approves, otherwise one.',
      notice: 'The time until NotBefore when the rule is applied.',
    }),
  }),
  v.description('The events that the rule applies to: all given conditions must match. {}: every event.'),
);

const deadline = v.pipe(
  v.strictObject({
    before: durationBetween('1s', '365d', 'The time before NotBefore at which the deadline expires.'),
    then: v.optional(
      v.pipe(
        v.picklist(['approve', 'leave']),
        v.description('approve: the bridge approves the event. leave: Azure starts the event at NotBefore.'),
      ),
      'leave',
    ),
  }),
  v.transform(({ before, then }) => ({ beforeMs: before, then })),
  v.description(
    'Only for a rule that waits, or with otherwise: what happens to an event that still waits at the deadline. Default: it waits until it starts.',
  ),
);

const rule = v.pipe(
  v.strictObject({
    when,
    then: v.pipe(
      v.picklist(['approve', 'wait', 'never']),
      v.description(
        'approve: at once, or in the windows of during. wait: for approvers. never: this bridge posts no StartRequest, and approvers get 403.',
      ),
    ),
    ...termEntries,
    required: v.exactOptional(
      required('Only for a rule that waits, or with otherwise: the required approvers. Default: approvals.required.'),
    ),
    deadline: v.exactOptional(deadline),
  }),
  rules((given) => termFaults(given)),
);

const POLICY = 'must be documentation, or a list of rules such as { when: { impacts: [Freeze] }, then: approve }';

/**
 * Accepts `documentation` or a list of rules. The value's type selects the schema, so that a fault in a rule is
 * reported with its path.
 */
function documentationOr<const Rules extends v.GenericSchema>(list: Rules) {
  const preset = v.literal('documentation', POLICY);
  const union = v.union([preset, list], POLICY);
  const run: (typeof union)['~run'] = (dataset, config) =>
    (Array.isArray(dataset.value) ? list : preset)['~run'](dataset, config) as ReturnType<(typeof union)['~run']>;
  return { ...union, item: rule, '~run': run };
}

export const policy = v.pipe(
  documentationOr(
    v.pipe(v.array(rule), v.minLength(1, 'must not be empty: omit the key if every event should wait for approvers')),
  ),
  v.description(
    'Rules: the first one that matches an event decides about it. Or documentation: the sample policy of the documentation. Default: every event waits for approvers.',
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
  v.minLength(1, 'must not be empty: omit the key if only the machines that an event names submit'),
  v.check(
    (names) => new Set(names.map((name) => name.toLowerCase())).size === names.length,
    'names a machine twice, without case',
  ),
  v.description(
    'Names of other machines that submit, in this order, after those that an event names. Only with submit: leader.',
  ),
);

export const group = v.pipe(
  v.strictObject({
    submit: v.optional(
      v.pipe(
        v.picklist(['every', 'leader']),
        v.description(
          'leader: the machines submit one after another, while the event is still Scheduled. every: each machine submits at once.',
        ),
      ),
      'every',
    ),
    failoverAfter: v.optional(
      durationBetween('100ms', '1h', 'With submit: leader, how long each machine waits for the previous one.'),
      '10s',
    ),
    members: v.exactOptional(members),
  }),
  v.forward(
    v.check((given) => given.members === undefined || given.submit === 'leader', 'is only for submit: leader'),
    ['members'],
  ),
  v.transform(({ submit, failoverAfter, members: names = [] }) => ({
    submit,
    failoverAfterMs: failoverAfter,
    members: names,
  })),
  v.description('Which machine of a group submits decisions of a policy, or of a source that each bridge reads.'),
);

/** `any` one approver, `all` whose scope touches the event, a number of approvers, or all approvers in a list. */
export type Required = OptionsOf<ReturnType<typeof required>>;
/**
 * If the rule approves, all names in Resources, at least one, must match `resources`; otherwise one match is enough.
 */
export type PolicyRule = OptionsOf<typeof rule>;
/** `documentation`: the sample policy of Microsoft's page (protocol 7.5). */
export type PolicyOptions = OptionsOf<typeof policy>;
export type ScopeOptions = OptionsOf<typeof scope>;
/**
 * `every`: each bridge posts its own decisions. `leader`: the bridges post in the order of their ranks while the event
 * is Scheduled.
 */
export type GroupOptions = OptionsOf<typeof group>;
