// Windows, budgets and rules that do not fit each other, or this Node → faults with their paths.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, surroundings } from '../../support/config.ts';

/** `approvals` with the window `nights`, the budget `databases`, and these rules. */
function approvals(policy: string): string {
  return `
version: 1
approvals:
  windows: { nights: { days: [Mon], from: "22:00", to: "05:00" } }
  budgets: { databases: { resources: ["db_*"], atMost: 1 } }
  ${policy}
`;
}

const BOTH = 'when: {}, then: approve, during: [nights], budgets: [databases]';
const UNUSED = [
  'approvals.windows.nights: is used by no rule: name it in during of a rule in approvals.policy, or remove it',
  'approvals.budgets.databases: is used by no rule: name it in budgets of a rule in approvals.policy, or remove it',
];

const CASES: readonly (readonly [title: string, policy: string, faults: readonly string[]])[] = [
  ['each is used', `policy: [{ ${BOTH} }]`, []],
  ['there is no policy', '', UNUSED],
  ['the policy is a preset', 'policy: documentation', UNUSED],
  ['no rule uses them', 'policy: [{ when: {}, then: approve }]', UNUSED],
  [
    'a list of names is empty',
    'policy: [{ when: {}, then: approve, during: [], budgets: [] }]',
    [
      'approvals.policy[0].during: must not be empty: name one of approvals.windows, or leave the key out',
      'approvals.policy[0].budgets: must not be empty: name one of approvals.budgets, or leave the key out',
      ...UNUSED,
    ],
  ],
  [
    'names are misspelt, or unlike any other',
    'policy: [{ when: { impacts: [Freeze] }, then: approve, during: [nights], budgets: [databases] }, { when: {}, then: approve, during: [nights, Nigths], budgets: [web] }]',
    [
      'approvals.policy[1].during[1]: is not a name in approvals.windows; did you mean nights?',
      'approvals.policy[1].budgets[0]: is not a name in approvals.budgets',
    ],
  ],
  [
    'the name of a budget stands under during',
    `policy: [{ ${BOTH} }, { when: {}, then: approve, during: [databases] }]`,
    [
      'approvals.policy[1]: is never used, because approvals.policy[0] matches every event: put it before that rule, or remove it',
      'approvals.policy[1].during[0]: is not a name in approvals.windows',
    ],
  ],
  [
    'a name stands twice',
    'policy: [{ when: {}, then: approve, during: [nights, nights], budgets: [databases] }]',
    ['approvals.policy[0].during: names one twice'],
  ],
  [
    'a list is a text',
    `policy: [{ ${BOTH.replace('[nights]', 'nights')} }]`,
    ['approvals.policy[0].during: must be a list, not a text', UNUSED[0] as string],
  ],
  [
    'a faulty rule names them: nothing else is said of them',
    `policy: [{ ${BOTH}, otherwise: leave }]`,
    ['approvals.policy[0].otherwise: must be wait, or leave it out: then Azure starts the event at NotBefore'],
  ],
  [
    'a policy is no policy: nothing else is said of them',
    `policy: { ${BOTH} }`,
    [
      'approvals.policy: must be documentation, or a list of rules such as { when: { impacts: [Freeze] }, then: approve }',
    ],
  ],
];

for (const [title, policy, faults] of CASES) {
  test(`the faults of windows and budgets if ${title}`, () => assert.deepEqual(faultsOf(approvals(policy)), faults));
}

test('names without a definition at all', () => {
  const text = 'version: 1\napprovals: { policy: [{ when: {}, then: approve, during: [a], budgets: [constructor] }] }';
  assert.deepEqual(faultsOf(text), [
    'approvals.policy[0].during[0]: is not a name in approvals.windows',
    'approvals.policy[0].budgets[0]: is not a name in approvals.budgets',
  ]);
});

test('a window with a fault is defined: a rule may name it', () => {
  const text = approvals(`policy: [{ ${BOTH} }]`).replace('[Mon]', '[]').replace('atMost: 1', 'atMost: 0');
  assert.deepEqual(faultsOf(text), [
    'approvals.windows.nights.days: must not be empty: the window would never open',
    'approvals.budgets.databases.atMost: must be at least 1: to approve nothing, write a rule with then: never',
  ]);
});

test('windows on a Node without full time-zone data are a fault, and budgets are none', () => {
  const around = { ...surroundings(), hasZoneData: () => false };
  assert.deepEqual(faultsOf(approvals(`policy: [{ ${BOTH} }]`), around), [
    'approvals.windows: cannot be used, because this Node.js has no full time-zone data: install Node.js with full ICU, as nodejs.org builds it, or remove the windows',
  ]);
  const budgets = `
version: 1
approvals:
  budgets: { databases: { resources: ["db_*"], atMost: 1 } }
  policy: [{ when: {}, then: approve, budgets: [databases] }]
`;
  assert.deepEqual(faultsOf(budgets, around), []);
});
