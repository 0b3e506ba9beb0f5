// Windows, budgets and rules that do not fit each other, or this Node → faults and warnings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/config/read-config.ts';
import { warningLine } from '../../../src/config/warnings.ts';
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

/** 24 November 2026, a Tuesday, noon UTC. */
const NOW_MS = Date.UTC(2026, 10, 24, 12);

/** The warnings of a configuration with the windows `nights` and `always`, and this rule, at NOW_MS. */
function warningsOf(rule: string, windows = NIGHTS, nowMs: number | null = NOW_MS): readonly string[] {
  const text = `
version: 1
approvals:
  windows: ${windows}
  policy:
    - ${rule}
    - { when: {}, then: approve, during: [nights, always] }
`;
  const read = readConfig(text, { ...surroundings(), ...(nowMs === null ? {} : { nowMs }) });
  if ('faults' in read) assert.fail(JSON.stringify(read.faults));
  return read.warnings.map((warning) => `${warning.isGrave ? 'grave ' : ''}${warningLine(warning)}`);
}

const WEEK = '[Mon, Tue, Wed, Thu, Fri, Sat, Sun]';
const NIGHTS = `{ nights: { days: ${WEEK}, from: "22:00", to: "05:00" }, always: { days: ${WEEK} } }`;

const PREEMPT = 'Azure announces a Preempt about 30s ahead';
const TERMINATE = 'Azure announces a Terminate at most 15m ahead';
const USERS = 'Azure announces what a user starts at most 15m ahead';
const MISSED = 'if no window is open in that time, the event';
const LEFT = 'is left to Azure, which starts it at NotBefore';
const OWN = (type: string) => `put a rule for ${type} before this one, with then: approve or then: wait`;

/** `when` and more of a rule, and its warnings. */
const WARNED: readonly (readonly [when: string, more: string, warnings: readonly string[]])[] = [
  ['impacts: [Preempt]', '', [`${PREEMPT}: ${MISSED} ${LEFT}; ${OWN('Preempt')}`]],
  ['impacts: [preempt]', ', otherwise: wait', [`${PREEMPT}: ${MISSED} waits for approvers; ${OWN('Preempt')}`]],
  [
    'impacts: [Redeploy, Terminate, Preempt]',
    '',
    [`${PREEMPT}: ${MISSED} ${LEFT}; ${OWN('Preempt')}`, `${TERMINATE}: ${MISSED} ${LEFT}; ${OWN('Terminate')}`],
  ],
  [
    'impacts: [Reboot, Redeploy], initiators: [user]',
    '',
    [`${USERS}: ${MISSED} ${LEFT}; remove during, or let approvers decide with then: wait`],
  ],
  [
    'notice: { below: 15m }',
    '',
    [`this rule is for events less than 15m ahead: ${MISSED} ${LEFT}; raise notice.below, or remove during`],
  ],
  ['impacts: [Redeploy, Reboot, Freeze]', '', []],
  ['initiators: [Platform]', '', []],
  ['initiators: [Platform, User]', '', []],
  ['notice: { above: 24h }', '', []],
  ['notice: { below: 16m }', '', []],
];

for (const [when, more, warnings] of WARNED) {
  test(`check warns of events that come too late for a window: ${when}${more}`, () => {
    assert.deepEqual(
      warningsOf(`{ when: { ${when} }, then: approve, during: [nights]${more} }`),
      warnings.map((warning) => `warning: approvals.policy[0].during: ${warning}`),
    );
  });
}

test('check does not warn of late events if a window is always open, or if they need none', () => {
  for (const rule of [
    '{ when: { impacts: [Preempt] }, then: approve, during: [always] }',
    '{ when: { impacts: [Preempt] }, then: approve, during: [nights, always] }',
    '{ when: { impacts: [Preempt] }, then: approve }',
    '{ when: { impacts: [Preempt] }, then: wait }',
  ])
    assert.deepEqual(warningsOf(rule), [], rule);
});

test('a day without the window is enough to miss it, and a gap as short as the notice is not', () => {
  const rule = (impact: string) => `{ when: { impacts: [${impact}] }, then: approve, during: [always] }`;
  const always = (more: string) => NIGHTS.replace(/always: .*$/, `always: { days: ${WEEK}, ${more} } }`);
  const closed = always('except: ["2027-06-01"]');
  assert.equal(warningsOf(rule('Terminate'), closed).length, 1);
  assert.deepEqual(warningsOf(rule('Terminate'), always('to: "23:50"')), []);
  assert.equal(warningsOf(rule('Preempt'), always('to: "23:50"')).length, 1);
});

test('check and run warn of a window that does not open in the next 400 days', () => {
  const dates = (count: number) =>
    Array.from({ length: count }, (_, day) => new Date(NOW_MS + (day - 1) * 86_400_000).toISOString().slice(0, 10));
  const windows = (except: readonly string[]) =>
    NIGHTS.replace('"05:00"', `"05:00", except: [${except.map((date) => `"${date}"`).join(', ')}]`);
  const rule = '{ when: { impacts: [Freeze] }, then: approve }';
  assert.deepEqual(warningsOf(rule, windows(dates(402))), [
    'grave warning: approvals.windows.nights: does not open in the next 400 days: correct its days, times or except',
  ]);
  assert.deepEqual(warningsOf(rule, windows(dates(400))), []);
  assert.deepEqual(warningsOf(rule, windows(dates(402)), null), [], 'not without the time');
});
