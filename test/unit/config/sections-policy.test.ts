// approvals.policy and approvals.group → the configuration, and every fault with its path.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { ADAPTERS as REAL_ADAPTERS } from '../../../adapters/index.ts';
import { jsonSchema } from '../../../src/config/json-schema.ts';
import { configOf, faultsOf, OTHER_TOKEN, surroundings, TOKEN } from '../../support/config.ts';

const AROUND = surroundings({ T: TOKEN, U: OTHER_TOKEN });
const accepts = new Ajv({ strict: false }).compile(jsonSchema(REAL_ADAPTERS));

/** `approvals` with two approvers and these keys besides. */
function approvals(keys: string): string {
  return `{ version: 1, approvals: { approvers: { orders: { token: { env: T } }, billing: { token: { env: U } } }, ${keys} } }`;
}

/** Rules, a group and sources (behaviour 8). */
const EXAMPLE = `
version: 1
approvals:
  approvers:
    orders:  { token: { env: T } }
    billing: { token: { env: U }, scope: { impacts: [Freeze, Reboot], resources: ["web_*"] } }
  policy:
    - { when: { initiators: [User] }, then: approve }
    - { when: { impacts: [Freeze], duration: { min: 0s, below: 9s } }, then: approve }
    - { when: { impacts: [Redeploy] }, then: wait, required: all, deadline: { before: 2m, then: approve } }
    - { when: { impacts: [Terminate] }, then: never }
  group: { submit: leader, failoverAfter: 10s, members: [web_0, web_1] }
`;

test('the example gives the expected options (behaviour 8)', () => {
  const { policy, group } = configOf(EXAMPLE, AROUND).approvals;
  assert.deepEqual(policy, [
    { when: { initiators: ['User'] }, then: 'approve' },
    { when: { impacts: ['Freeze'], duration: { minMs: 0, belowMs: 9000 } }, then: 'approve' },
    {
      when: { impacts: ['Redeploy'] },
      then: 'wait',
      required: 'all',
      deadline: { beforeMs: 120_000, then: 'approve' },
    },
    { when: { impacts: ['Terminate'] }, then: 'never' },
  ]);
  assert.deepEqual(group, { submit: 'leader', failoverAfterMs: 10_000, members: ['web_0', 'web_1'] });
  assert.ok(accepts(parse(EXAMPLE)), JSON.stringify(accepts.errors));
});

test('a deadline leaves the event to Azure unless it says otherwise, and notice has its limits in milliseconds', () => {
  const rule =
    '{ when: { notice: { above: 1m, below: 5m }, resources: ["*"] }, then: wait, required: [orders], deadline: { before: 90s } }';
  assert.deepEqual(configOf(approvals(`policy: [${rule}]`), AROUND).approvals.policy, [
    {
      when: { notice: { aboveMs: 60_000, belowMs: 300_000 }, resources: ['*'] },
      then: 'wait',
      required: ['orders'],
      deadline: { beforeMs: 90_000, then: 'leave' },
    },
  ]);
});

test('a policy needs no approvers', () => {
  assert.equal(configOf('{ version: 1, approvals: { policy: documentation } }').approvals.policy, 'documentation');
  const last = configOf(
    '{ version: 1, approvals: { policy: [{ when: { impacts: [Freeze] }, then: approve }, { when: {}, then: never }] } }',
  );
  assert.equal(last.approvals.policy?.length, 2);
});

const LIMITS = 'is only for a rule that waits: with then: wait';
const POLICY =
  'approvals.policy: must be documentation, or a list of rules such as { when: { impacts: [Freeze] }, then: approve }';

/** The faults of these keys of `approvals`, whatever the JSON Schema says. */
const CASES: readonly (readonly [title: string, keys: string, faults: readonly string[]])[] = [
  ['another preset', 'policy: docs', [POLICY]],
  ['one rule in place of a list', 'policy: { when: {}, then: approve }', [POLICY]],
  [
    'an empty policy',
    'policy: []',
    ['approvals.policy: must not be empty: omit the key if every event should wait for approvers'],
  ],
  ['a rule that is none', 'policy: [approve]', ['approvals.policy[0]: must be a mapping, not a text']],
  ['a rule without conditions', 'policy: [{ then: approve }]', ['approvals.policy[0].when: is missing']],
  ['a rule without an end', 'policy: [{ when: {} }]', ['approvals.policy[0].then: is missing']],
  [
    'another end',
    'policy: [{ when: {}, then: aprove }]',
    ['approvals.policy[0].then: is not an allowed value (allowed: approve, wait, never); did you mean approve?'],
  ],
  [
    'a key that no rule has',
    'policy: [{ when: {}, then: wait, deadlin: { before: 1m } }]',
    [
      'approvals.policy[0].deadlin: is not a key of the configuration (allowed: when, then, during, otherwise, budgets, required, deadline); did you mean deadline?',
    ],
  ],
  [
    'a condition that no rule has',
    'policy: [{ when: { impact: [Freeze] }, then: wait }]',
    [
      'approvals.policy[0].when.impact: is not a key of the configuration (allowed: impacts, initiators, resources, notice, duration); did you mean impacts?',
    ],
  ],
  [
    'an empty condition',
    'policy: [{ when: { impacts: [] }, then: wait }]',
    ['approvals.policy[0].when.impacts: must not be empty: remove the key to set no condition'],
  ],
  [
    'notice that lets nothing pass',
    'policy: [{ when: { notice: { above: 5m, below: 5m } }, then: wait }, { when: { notice: { below: 0s } }, then: wait }]',
    [
      'approvals.policy[0].when.notice: lets nothing pass: above must be less than below',
      'approvals.policy[1].when.notice: lets nothing pass: below must be more than 0s',
    ],
  ],
  [
    'a duration that lets nothing pass, or everything',
    'policy: [{ when: { duration: { min: 9s, below: 9s } }, then: wait }, { when: { duration: {} }, then: wait }]',
    [
      'approvals.policy[0].when.duration: lets nothing pass: min must be less than below',
      'approvals.policy[1].when.duration: has no limit: give min or below, or leave the key out',
    ],
  ],
  [
    'what only a rule that waits has',
    'policy: [{ when: {}, then: approve, required: all }]',
    [`approvals.policy[0].required: ${LIMITS}`],
  ],
  [
    'a deadline of what is never approved',
    'policy: [{ when: {}, then: never, deadline: { before: 1m } }]',
    [`approvals.policy[0].deadline: ${LIMITS}`],
  ],
  [
    'a deadline without its time',
    'policy: [{ when: {}, then: wait, deadline: { then: approve } }]',
    ['approvals.policy[0].deadline.before: is missing'],
  ],
  [
    'a deadline at NotBefore',
    'policy: [{ when: {}, then: wait, deadline: { before: 0s } }]',
    ['approvals.policy[0].deadline.before: must be between 1s and 365d'],
  ],
  [
    'quorums of a rule that nobody could fill',
    'policy: [{ when: { impacts: [Reboot] }, then: wait, required: 3 }, { when: {}, then: wait, required: [orders, biling] }]',
    [
      'approvals.policy[0].required: needs more approvers than are configured (2 in approvals.approvers)',
      'approvals.policy[1].required[1]: is not a name in approvals.approvers; did you mean billing?',
    ],
  ],
  [
    'rules behind one that matches every event',
    'policy: [{ when: {}, then: wait }, { when: { impacts: [Freeze] }, then: approve }, { when: {}, then: never }]',
    [1, 2].map(
      (index) =>
        `approvals.policy[${index}]: is never used, because approvals.policy[0] matches every event: put it before that rule, or remove it`,
    ),
  ],
  [
    'another way to submit',
    'group: { submit: one }',
    ['approvals.group.submit: is not an allowed value (allowed: every, leader)'],
  ],
  [
    'a long wait for the leader',
    'group: { submit: leader, failoverAfter: 2h }',
    ['approvals.group.failoverAfter: must be between 100ms and 1h'],
  ],
  [
    'a machine twice',
    'group: { submit: leader, members: [web_0, WEB_0] }',
    ['approvals.group.members: names a machine twice, without case'],
  ],
  ['members without a leader', 'group: { members: [web_0] }', ['approvals.group.members: is only for submit: leader']],
  [
    'no members',
    'group: { submit: leader, members: [] }',
    ['approvals.group.members: must not be empty: omit the key if only the machines that an event names submit'],
  ],
];

for (const [title, keys, faults] of CASES) {
  test(`a fault: ${title}`, () => {
    assert.deepEqual(faultsOf(approvals(keys), AROUND), faults);
  });
}

const REFUSED_BY_BOTH = [
  'policy: docs',
  'policy: [{ then: approve }]',
  'policy: [{ when: {}, then: maybe }]',
  'policy: [{ when: { impact: [Freeze] }, then: wait }]',
  'policy: [{ when: {}, then: wait, deadline: { before: 2 } }]',
  'group: { submit: one }',
  'group: { members: [1] }',
];
for (const keys of REFUSED_BY_BOTH) {
  test(`the JSON Schema and check both reject: ${keys}`, () => {
    assert.equal(accepts(parse(approvals(keys))), false);
    assert.notDeepEqual(faultsOf(approvals(keys), AROUND), []);
  });
}

test('the shipped example is a valid configuration for check and for editors, with the sample policy and standard output', () => {
  const example = readFileSync(
    new URL('../../../docs/receive/examples/documentation-policy.yaml', import.meta.url),
    'utf8',
  );
  const { approvals: read, sinks } = configOf(example, { ...AROUND, adapters: REAL_ADAPTERS });
  assert.equal(read.policy, 'documentation');
  assert.deepEqual(
    Object.values(sinks).map(({ type }) => type),
    ['stdout'],
  );
  assert.ok(accepts(parse(example)), JSON.stringify(accepts.errors));
});
