// Windows, budgets and the rules that name them → options, or faults with paths and texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeBlocksOf } from '../../../docs/markdown-page.ts';
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

test('the example of docs/operate/configuration.md is a valid configuration', () => {
  const [example, ...more] = codeBlocksOf('docs/operate/configuration.md').filter(({ text }) => /windows:/.test(text));
  assert.deepEqual(more, []);
  const { windows, budgets } = configOf(`version: 1\n${example?.text}`).approvals;
  assert.deepEqual([...Object.keys(windows), ...Object.keys(budgets)], ['nights', 'weekend', 'databases']);
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

/** A window or a budget with these keys that the rules name. */
function terms(window: string, budget = 'resources: ["*"], atMost: 1'): string {
  return `
version: 1
approvals:
  windows: { nights: { ${window} } }
  budgets: { databases: { ${budget} } }
  policy: [{ when: {}, then: approve, during: [nights], budgets: [databases] }]
`;
}

const ZONE = 'timeZone: must be the IANA name of a time zone, such as Europe/Berlin; not an offset or an abbreviation';
const DAY = 'must be one of Mon, Tue, Wed, Thu, Fri, Sat, Sun';
const FROM = 'from: must be a time from "00:00" to "23:59", with two digits for the hour';
const TO = 'to: must be a time from "00:00" to "24:00", with two digits for the hour';
const NO_DATE = 'must be a date such as "2026-12-26"';

/** The keys of a window, and its faults. */
const WINDOWS: readonly (readonly [keys: string, faults: readonly string[]])[] = [
  ['from: "01:00"', ['days: is missing']],
  ['days: []', ['days: must not be empty: the window would never open']],
  ['days: Mon', ['days: must be a list, not a text']],
  [
    'days: [Monday, mon, Thr, Xyzzy, 1]',
    [
      `days[0]: ${DAY}; did you mean Mon?`,
      `days[1]: ${DAY}; did you mean Mon?`,
      `days[2]: ${DAY}; did you mean Thu?`,
      `days[3]: ${DAY}`,
      `days[4]: ${DAY}`,
    ],
  ],
  ['days: [Mon], from: "24:00"', [FROM]],
  ['days: [Mon], from: "9:00"', [FROM]],
  ['days: [Mon], from: 9', [FROM]],
  ['days: [Mon], from: "22:60", to: "24:01"', [FROM, TO]],
  ['days: [Mon], to: "5:00"', [TO]],
  ['days: [Mon], to: 24', [TO]],
  ['days: [Mon], from: "22:00", to: "22:00"', ['to: must differ from "from": the window would be empty']],
  ['days: [Mon], to: "00:00"', ['to: must differ from "from": the window would be empty']],
  ['days: [Mon], from: "00:00", to: "24:00"', []],
  ['days: [Mon], from: 22:00, to: 05:00', []],
  ['days: [Mon], except: "2026-12-26"', ['except: must be a list, not a text']],
  [
    'days: [Mon], except: ["2026-02-29", "2028-02-29", "2026-13-01", "26.12.2026", 20261226, 2026-12-26]',
    [
      'except[0]: is not in the calendar',
      'except[2]: is not in the calendar',
      `except[3]: ${NO_DATE}`,
      `except[4]: ${NO_DATE}`,
    ],
  ],
  [
    `days: [Mon], except: [${Array.from({ length: 1001 }, () => '"2026-12-26"').join(', ')}]`,
    ['except: must not have more than 1000 dates'],
  ],
  [`days: [Mon], except: [${Array.from({ length: 1000 }, () => '"2026-12-26"').join(', ')}]`, []],
  ['days: [Mon], timeZone: Europe/Berln', [`${ZONE}; did you mean Europe/Berlin?`]],
  ['days: [Mon], timeZone: berlin', [`${ZONE}; did you mean Europe/Berlin?`]],
  ['days: [Mon], timeZone: "America/New York"', [`${ZONE}; did you mean America/New_York?`]],
  ['days: [Mon], timeZone: utc', [`${ZONE}; did you mean UTC?`]],
  ['days: [Mon], timeZone: CET', [ZONE]],
  ['days: [Mon], timeZone: "+02:00"', [ZONE]],
  ['days: [Mon], timeZone: ""', [ZONE]],
  ['days: [Mon], timeZone: 1', ['timeZone: must be a text, not a number']],
  ['days: [Mon], timeZone: Asia/Kolkata', []],
  [
    'days: [Mon], timezone: UTC',
    ['timezone: is not a key of the configuration (allowed: days, from, to, except, timeZone); did you mean timeZone?'],
  ],
];

for (const [keys, faults] of WINDOWS) {
  test(`the faults of a window with ${keys.slice(0, 100)}`, () => {
    assert.deepEqual(
      faultsOf(terms(keys)),
      faults.map((fault) => `approvals.windows.nights.${fault}`),
    );
  });
}

/** The keys of a budget, and its faults. */
const BUDGETS: readonly (readonly [keys: string, faults: readonly string[]])[] = [
  ['resources: ["*"]', ['atMost: is missing']],
  ['atMost: 1', ['resources: is missing']],
  ['resources: [], atMost: 1', ['resources: must not be empty: the budget would count no name; "*" counts every name']],
  ['resources: ["*"], atMost: 0', ['atMost: must be at least 1: to approve nothing, write a rule with then: never']],
  ['resources: ["*"], atMost: 1.5', ['atMost: must be a whole number']],
  ['resources: ["*"], atMost: "1"', ['atMost: must be a number, not a text']],
  ['resources: ["*"], atMost: 1, rest: 10', ['rest: must be a duration such as 500ms, 10s, 15m or 30d']],
  ['resources: ["*"], atMost: 1, rest: 31d', ['rest: must be between 0s and 30d']],
  ['resources: ["*"], atMost: 1000, rest: 30d', []],
];

for (const [keys, faults] of BUDGETS) {
  test(`the faults of a budget with ${keys}`, () => {
    assert.deepEqual(
      faultsOf(terms('days: [Mon]', keys)),
      faults.map((fault) => `approvals.budgets.databases.${fault}`),
    );
  });
}

test('names of windows and budgets are as those of sinks', () => {
  const text = terms('days: [Mon]').replaceAll('nights', 'my nights').replaceAll('databases', '__proto__');
  assert.deepEqual(faultsOf(text), [
    'approvals.budgets.__proto__: may not be used as a name',
    'approvals.windows.my nights: is not a valid name: use 1 to 64 letters, digits, _ or -',
  ]);
});
