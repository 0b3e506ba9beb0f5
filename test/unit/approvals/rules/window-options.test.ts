// Windows, budgets and the rules that name them → options, or faults with paths and texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, faultsOf } from '../../../support/config.ts';

/** `approvals` with a window `nights`, a budget `databases`, a rule that uses both, and this rule behind it. */
function withRule(rule: string): string {
  return `
version: 1
approvals:
  windows: { nights: { days: [Mon, Fri], from: "22:00", to: "05:00", timeZone: Europe/Berlin } }
  budgets: { databases: { resources: ["db_*"], atMost: 1, rest: 10m } }
  policy:
    - { when: { impacts: [Redeploy] }, then: approve, during: [nights], budgets: [databases] }
    - ${rule}
`;
}

test('windows, budgets and the rules that name them', () => {
  const rule =
    '{ when: {}, then: approve, during: [nights], otherwise: wait, required: any, deadline: { before: 5m, then: approve } }';
  const { windows, budgets, policy } = configOf(withRule(rule)).approvals;
  assert.deepEqual(windows, {
    nights: { days: ['Mon', 'Fri'], from: '22:00', to: '05:00', except: [], timeZone: 'Europe/Berlin' },
  });
  assert.deepEqual(budgets, { databases: { resources: ['db_*'], atMost: 1, restMs: 600_000 } });
  assert.deepEqual(policy, [
    { when: { impacts: ['Redeploy'] }, then: 'approve', during: ['nights'], budgets: ['databases'] },
    {
      ...{ when: {}, then: 'approve', during: ['nights'], otherwise: 'wait', required: 'any' },
      deadline: { beforeMs: 300_000, then: 'approve' },
    },
  ]);
});

test('a window lasts the whole day in UTC, and a budget has no rest, unless they say otherwise', () => {
  const { windows, budgets } = configOf(`
version: 1
approvals:
  windows: { weekend: { days: [Sat, Sun] } }
  budgets: { one: { resources: ["*"], atMost: 1 } }
  policy: [{ when: {}, then: approve, during: [weekend], budgets: [one] }]
`).approvals;
  assert.deepEqual(windows['weekend'], {
    ...{ days: ['Sat', 'Sun'], from: '00:00', to: '24:00', except: [], timeZone: 'UTC' },
  });
  assert.equal(budgets['one']?.restMs, 0);
});

const WAITS = 'is only for a rule that waits:';
const BY_ITSELF = 'is only for a rule that approves by itself';

/** A rule behind the first one, and the faults of its keys. */
const RULES: readonly (readonly [rule: string, faults: readonly string[]])[] = [
  ['{ when: {}, then: wait, during: [nights] }', ['during: is only for a rule that approves: with then: approve']],
  ['{ when: {}, then: never, during: [nights] }', ['during: is only for a rule that approves: with then: approve']],
  [
    '{ when: {}, then: approve, otherwise: wait }',
    ['otherwise: is only for a rule with during: it says what happens if no window opens'],
  ],
  [
    '{ when: {}, then: approve, during: [nights], otherwise: leave }',
    ['otherwise: must be wait, or leave it out: then Azure starts the event at NotBefore'],
  ],
  ['{ when: {}, then: approve, required: any }', [`required: ${WAITS} with then: wait`]],
  [
    '{ when: {}, then: approve, during: [nights], required: any, deadline: { before: 1m } }',
    [`required: ${WAITS} add otherwise: wait, or remove it`, `deadline: ${WAITS} add otherwise: wait, or remove it`],
  ],
  ['{ when: {}, then: never, budgets: [databases] }', [`budgets: ${BY_ITSELF}: with then: approve`]],
  ...['', ', deadline: { before: 1m }', ', deadline: { before: 1m, then: leave }'].map(
    (deadline) =>
      [
        `{ when: {}, then: wait, budgets: [databases]${deadline} }`,
        [`budgets: ${BY_ITSELF}: a rule that waits needs deadline: { before: …, then: approve }`],
      ] as const,
  ),
  ['{ when: {}, then: wait, budgets: [databases], deadline: { before: 1m, then: approve } }', []],
  ['{ when: {}, then: approve, during: [nights], otherwise: wait }', []],
];

for (const [rule, faults] of RULES) {
  test(`the keys that fit the rule ${rule}`, () => {
    assert.deepEqual(
      faultsOf(withRule(rule)),
      faults.map((fault) => `approvals.policy[1].${fault}`),
    );
  });
}
