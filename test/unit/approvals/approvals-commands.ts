// Chance → a bridge's configurations and what may happen to it, for the property of approvals.
import fc from 'fast-check';
import type { Kill } from './approvals-model.ts';
import type { OracleConfig, OracleRule } from './approvals-oracle-rules.ts';
import type { Answer, Channel } from './approvals-process.ts';

const NAMES = ['web_0', 'Web_1', 'db_0'];
const GLOBS = ['web_*', 'WEB_0', '*'];
const IMPACTS = ['Freeze', 'Reboot', 'Terminate'];
export const EVENT_IDS = ['Aa', 'bB'];
/** Two that speak for one, and one of another name. */
const DRAIN_AND_FLUSH = [
  ['drain', 'orders'],
  ['flush', 'orders'],
] as const;
const some = <T>(...values: readonly T[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const required = fc.constantFrom<OracleRule['required'] & {}>('any', 'all', 2, ['orders', 'billing'], ['billing']);
const when: fc.Arbitrary<OracleRule['when']> = fc.record({
  impacts: seldom(some(...IMPACTS)),
  initiators: seldom(some('Platform', 'user')),
  resources: seldom(some(...GLOBS)),
  notice: seldom(fc.constantFrom({ belowMs: 300_000 }, { aboveMs: 120_000 })),
  duration: seldom(fc.constantFrom({ minMs: 0, belowMs: 9000 }, { minMs: 9000 })),
});
const rule: fc.Arbitrary<OracleRule> = fc.oneof(
  fc.record({ when, then: fc.constantFrom('approve' as const, 'approve' as const, 'never' as const) }),
  fc.record({
    ...{ when, then: fc.constant('wait' as const), required: maybe(required) },
    deadline: fc.option(
      fc.record({
        beforeMs: fc.constantFrom(30_000, 120_000),
        then: fc.constantFrom('approve' as const, 'leave' as const),
      }),
      {
        ...{ nil: undefined, freq: 4 },
      },
    ),
  }),
);
/** Seldom approved by all, so that the deadline has something to do. */
const deadlineRule: fc.Arbitrary<OracleRule> = fc.record({
  ...{
    when: fc.record({ resources: seldom(some(...GLOBS)) }),
    then: fc.constant('wait' as const),
    required: fc.constant('all' as const),
  },
  deadline: fc.record({ beforeMs: fc.constantFrom(30_000, 120_000), then: fc.constant('approve' as const) }),
});
const policy = fc.oneof(
  fc.array(rule, { maxLength: 3 }),
  fc.tuple(deadlineRule).map((rules): OracleRule[] => rules),
  fc.tuple(rule, deadlineRule).map((rules): OracleRule[] => rules),
);
const scope = seldom(
  fc.record({ impacts: some(...IMPACTS), resources: some(...GLOBS) }, { requiredKeys: [] }) as fc.Arbitrary<{
    impacts?: string[];
    resources?: string[];
  }>,
);
/** What a process of the bridge may run with. */
const config: fc.Arbitrary<OracleConfig> = fc
  .record({
    ...{ orders: scope, billing: scope, policy, required },
    ...{
      submit: fc.constantFrom('every' as const, 'leader' as const),
      members: fc.constantFrom([], ['web_1'], ['partner', 'web_0']),
    },
    ...{ ownName: fc.constantFrom('web_0', 'WEB_1', 'partner'), dryRun: fc.constantFrom(false, false, false, true) },
    unauthorized: fc.constantFrom<readonly string[]>([], [], [], ['orders'], ['orders', 'billing']),
    sinks: fc.constantFrom<readonly (readonly [string, string])[]>([], [], [['drain', 'billing']], DRAIN_AND_FLUSH),
  })
  .map(({ orders, billing, submit, members, sinks, ...rest }) => ({
    ...rest,
    holdingSinks: new Map(sinks),
    approvers: {
      orders: orders ? { scope: orders } : {},
      billing: billing ? { scope: billing } : {},
      ops: { admin: true },
    },
    group: { submit, failoverAfterMs: 20_000, members },
  }));

/**
 * The first two with nothing in common; the third is the first with a rule before its rules, and its lists the other
 * way round.
 */
export const configs = fc.tuple(config, config, rule).map(([first, second, before]): readonly OracleConfig[] => {
  const policy = [
    before,
    ...first.policy.map(({ when: { impacts, ...conditions }, ...rest }) => ({
      ...rest,
      when: { ...conditions, ...(impacts && { impacts: impacts.toReversed() }) },
    })),
  ];
  return [first, second, { ...first, policy }];
});

const id = fc.constantFrom(...EVENT_IDS);
const approver = fc.constantFrom('orders', 'orders', 'billing', 'billing', 'ops');
const channel = fc.constantFrom<Channel>('http', 'http', 'topic', 'queue');
const fields = fc.record({
  eventType: maybe(fc.constantFrom(...IMPACTS, 'SpotRebalanceRecommendation')),
  durationInSeconds: maybe(fc.constantFrom(-1, 5, 600)),
  resources: maybe(fc.constantFrom(['web_0', 'WEB_1'], ['web_0'], ['WEB_1', 'db_0'], NAMES, [])),
  eventSource: maybe(fc.constantFrom('Platform', 'User')),
  noticeS: maybe(fc.constantFrom(60, 60, 150, 150, 600, -60)),
});

/** What may happen next. */
export const command = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('list' as const), id, fields }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      ids: fc.uniqueArray(id, { minLength: 1 }),
      approver,
      channel,
      seen: maybe(fc.nat(6)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('hold' as const, 'release' as const, 'hold and ask' as const),
      id,
      approver,
      channel,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('prepare' as const),
      which: fc.nat(3),
      seen: fc.nat(3),
      isOld: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('start' as const, 'unstart' as const, 'end' as const, 'hide' as const),
      id,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('restart' as const), which: fc.nat(2), inOrder: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('reload' as const), which: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('kill' as const), at: fc.constantFrom<Kill>('before', 'after') }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 1000, 4000, 9000, 15_000, 30_000, 90_000, 500_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('answers' as const),
      answers: fc.array(
        fc.constantFrom<Answer>(
          'accepted',
          'starts',
          'slow',
          'slow starts',
          'again',
          'refused',
          'slow refused',
          'bad',
          'bad',
          'never',
          'never starts',
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'poll' as const,
        'crowd' as const,
        'away' as const,
        'back' as const,
        'back' as const,
        'blind' as const,
        'full' as const,
        'room' as const,
        'room' as const,
      ),
    }),
  },
);
export type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;
