// Documents over time → the moments at which rules with windows and budgets approve.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { RulesInForce } from '../../../../src/approvals/rules/rules-in-force.ts';
import type { WindowOptions } from '../../../../src/approvals/rules/windows.ts';
import { Forecast, type Forecasted } from '../../../../src/approvals/views/forecast.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { scheduledEvent } from '../../../support/events.ts';
import { type ApprovalSettings, ApprovalsFixture, RULES } from '../../../virtual/approvals-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const MINUTE_MS = 60_000;
const EVERY_DAY = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

function daily(from: string, to: string, timeZone = 'UTC'): WindowOptions {
  return { days: EVERY_DAY, from, to, except: [], timeZone };
}

function rule(parts: Omit<PolicyRule, 'when' | 'then'>, then: PolicyRule['then'] = 'approve'): readonly PolicyRule[] {
  return [{ when: {}, then, ...parts }];
}

type Document = readonly (readonly [key: string, fields: Partial<ScheduledEvent>])[];

function eventsOf(document: Document): ReadonlyMap<string, ScheduledEvent> {
  return new Map(document.map(([key, fields]) => [key, scheduledEvent({ eventId: key, ...fields })]));
}

/** Plays documents, each from its moment on, and what falls due between them and until `endMs`. */
function played(
  settings: ApprovalSettings,
  documents: readonly (readonly [atMs: number, document: Document])[],
  endMs: number,
): readonly Forecasted[] {
  const forecast = new Forecast(new RulesInForce({ ...RULES, ...settings }));
  const forecasted: Forecasted[] = [];
  const until = (ms: number) => {
    for (let nextMs = forecast.nextMs(); nextMs !== null && nextMs <= ms; nextMs = forecast.nextMs())
      forecasted.push(...forecast.advance(nextMs));
  };
  for (const [atMs, document] of documents) {
    until(atMs);
    forecasted.push(...forecast.observe(eventsOf(document), atMs));
  }
  until(endMs);
  return forecasted;
}

/** `KEY MOMENT: ACTION at MOMENT, held back by BUDGETS`. */
function linesOf(forecasted: readonly Forecasted[]): readonly string[] {
  return forecasted.map(({ event, atMs, nextStep, heldBackBy }) => {
    const at = nextStep.at?.replace('.000Z', 'Z') ?? 'once it fits';
    const held = heldBackBy.length > 0 ? `, held back by ${heldBackBy.join(', ')}` : '';
    return `${event.eventId} ${new Date(atMs).toISOString().slice(0, 16)}: ${nextStep.action} ${at}${held}`;
  });
}

const CHANGES_OF_THE_CLOCK: readonly (readonly [zone: string, seenAt: string, opensAt: string])[] = [
  // 02:30 does not exist on these nights, so the window opens at the first moment after the gap.
  ['Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00Z'],
  ['America/New_York', '2026-03-07T12:00:00Z', '2026-03-08T07:00:00Z'],
  ['America/St_Johns', '2026-03-07T12:00:00Z', '2026-03-08T05:30:00Z'],
  // The gap of half an hour ends at 02:30.
  ['Australia/Lord_Howe', '2026-10-03T12:00:00Z', '2026-10-03T15:30:00Z'],
  // 02:30 comes twice in Berlin, and the window opens at the first.
  ['Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z'],
  ['Asia/Kolkata', '2026-03-28T12:00:00Z', '2026-03-28T21:00:00Z'],
];
for (const [zone, seenAt, opensAt] of CHANGES_OF_THE_CLOCK) {
  test(`an event seen at ${seenAt} is approved at 02:30 of ${zone}: ${opensAt}`, () => {
    const settings = { windows: { night: daily('02:30', '04:00', zone) }, policy: rule({ during: ['night'] }) };
    const seenMs = Date.parse(seenAt);
    const notBefore = new Date(seenMs + 7 * 24 * 60 * MINUTE_MS).toISOString();
    const [first, ...more] = played(settings, [[seenMs, [['a', { notBefore }]]]], Date.parse(notBefore));
    assert.deepEqual(
      [first?.nextStep, more],
      [{ action: 'approve', at: opensAt.replace('Z', '.000Z'), by: 'policy[0]' }, []],
    );
    assert.equal(first?.governed?.opening?.window, 'night');
  });
}

const DAY = '2026-01-01';
const at = (time: string) => Date.parse(`${DAY}T${time}:00Z`);
const notBefore = `${DAY}T12:00:00Z`;
const ONE_DATABASE = { databases: { resources: ['db_*'], atMost: 1, restMs: 10 * MINUTE_MS } };

test('a budget holds the second event back until the first has ended and rested', () => {
  const settings = { budgets: ONE_DATABASE, policy: rule({ budgets: ['databases'] }) };
  const [a, b] = [
    { resources: ['db_0'], notBefore },
    { resources: ['DB_1'], notBefore },
  ];
  const lines = linesOf(
    played(
      settings,
      [
        [
          at('01:00'),
          [
            ['b', b],
            ['a', a],
          ],
        ],
        [at('02:00'), [['b', b]]],
      ],
      at('12:00'),
    ),
  );
  assert.deepEqual(lines, [
    'b 2026-01-01T01:00: approve once it fits, held back by databases',
    'a 2026-01-01T01:00: approve 2026-01-01T01:00:00Z',
    'b 2026-01-01T02:10: approve 2026-01-01T02:10:00Z',
  ]);
});

test('an event is in use from the opening of its window, not from its announcement', () => {
  const windows = { morning: daily('03:00', '04:00') };
  const policy: readonly PolicyRule[] = [
    { when: { impacts: ['Redeploy'] }, then: 'approve', during: ['morning'], budgets: ['databases'] },
    { when: {}, then: 'approve', budgets: ['databases'] },
  ];
  const later = { eventType: 'Redeploy', resources: ['db_0'], notBefore };
  const quick = { resources: ['db_1'], notBefore };
  const lines = linesOf(
    played(
      { windows, budgets: ONE_DATABASE, policy },
      [
        [at('01:00'), [['later', later]]],
        [
          at('02:00'),
          [
            ['later', later],
            ['quick', quick],
          ],
        ],
        [at('02:55'), [['later', later]]],
      ],
      at('12:00'),
    ),
  );
  assert.deepEqual(lines, [
    'later 2026-01-01T01:00: approve 2026-01-01T03:00:00Z',
    'quick 2026-01-01T02:00: approve 2026-01-01T02:00:00Z',
    'later 2026-01-01T03:00: approve once it fits, held back by databases',
    'later 2026-01-01T03:05: approve 2026-01-01T03:05:00Z',
  ]);
});

test('an event whose window closes while a budget holds it back waits for the next window, or is left to Azure', () => {
  const settings = {
    windows: { morning: daily('03:00', '04:00') },
    budgets: ONE_DATABASE,
    policy: rule({ during: ['morning'], budgets: ['databases'] }),
  };
  const started = { eventStatus: 'Started', resources: ['db_0'], notBefore: null } as const;
  const waiting = { resources: ['db_1'], notBefore: '2026-01-02T12:00:00Z' };
  const soon = { resources: ['db_2'], notBefore };
  const document: Document = [
    ['busy', started],
    ['waiting', waiting],
    ['soon', soon],
  ];
  assert.deepEqual(linesOf(played(settings, [[at('03:30'), document]], at('12:00'))).slice(1), [
    'waiting 2026-01-01T03:30: approve once it fits, held back by databases',
    'soon 2026-01-01T03:30: approve once it fits, held back by databases',
    'waiting 2026-01-01T04:00: approve 2026-01-02T03:00:00Z',
    'soon 2026-01-01T04:00: start 2026-01-01T12:00:00Z',
  ]);
});

test('a deadline that approves is held back by a budget, and counts from the moment at which it fits', () => {
  const settings = {
    budgets: ONE_DATABASE,
    policy: rule({ budgets: ['databases'], deadline: { beforeMs: 120 * MINUTE_MS, then: 'approve' } }, 'wait'),
  };
  const started = { eventStatus: 'Started', resources: ['db_0'], notBefore: null } as const;
  const waiting = { resources: ['db_1'], notBefore };
  const forecasted = played(
    settings,
    [
      [
        at('09:00'),
        [
          ['busy', started],
          ['waiting', waiting],
        ],
      ],
      [at('10:30'), [['waiting', waiting]]],
    ],
    at('12:00'),
  );
  assert.deepEqual(linesOf(forecasted).slice(1), [
    'waiting 2026-01-01T09:00: approve 2026-01-01T10:00:00Z',
    'waiting 2026-01-01T10:00: approve once it fits, held back by databases',
    'waiting 2026-01-01T10:40: approve 2026-01-01T10:40:00Z',
  ]);
  assert.deepEqual(
    forecasted.map(({ isDue }) => isDue),
    [false, false, true, true],
  );
});

const STARTED_BUSY = { eventStatus: 'Started', resources: ['db_0'], notBefore: null } as const;
const DRILL = 'drill-00000000-0000-4000-8000-000000000001';
const DEADLINE = { beforeMs: 120 * MINUTE_MS, then: 'approve' } as const;
const WAITS_UNTIL_TEN = { policy: rule({ deadline: DEADLINE }, 'wait') };

/** As `linesOf`, of what a forecast says. */
function forecastOf(settings: ApprovalSettings) {
  const forecast = new Forecast(new RulesInForce({ ...RULES, ...settings }));
  return {
    observe: (time: string, document: Document) => linesOf(forecast.observe(eventsOf(document), at(time))),
    advance: (time: string) => linesOf(forecast.advance(at(time))),
    /** `HH:MM` of its day. */
    next: () => {
      const nextMs = forecast.nextMs();
      return nextMs === null ? null : new Date(nextMs).toISOString().slice(11, 16);
    },
  };
}

test('a new event is returned even if it is Started, and its start is not', () => {
  const settings = { policy: rule({}) };
  const forecast = new Forecast(new RulesInForce({ ...RULES, ...settings }));
  const event = scheduledEvent({ eventId: 'busy', ...STARTED_BUSY });
  assert.deepEqual(forecast.observe(new Map([['busy', event]]), at('01:00')), [
    {
      ...{ event, atMs: at('01:00'), governed: null, isDue: false, heldBackBy: [] },
      nextStep: { action: null, at: null, by: null },
    },
  ]);
  const waits = forecastOf({ policy: rule({}, 'wait') });
  assert.deepEqual(waits.observe('01:00', [['a', { notBefore }]]), ['a 2026-01-01T01:00: start 2026-01-01T12:00:00Z']);
  assert.deepEqual(waits.observe('01:30', [['a', STARTED_BUSY]]), []);
});

test('a Scheduled event that changes is returned, also if the same holds of it', () => {
  const waits = forecastOf({ policy: rule({}, 'wait') });
  const lines = ['first', 'second', 'second'].map((description) =>
    waits.observe('03:00', [['a', { notBefore, description }]]),
  );
  const line = 'a 2026-01-01T03:00: start 2026-01-01T12:00:00Z';
  assert.deepEqual(lines, [[line], [line], []]);
});

test('an approval by a deadline does not count after a start that Azure took back', () => {
  const { observe, advance, next } = forecastOf(WAITS_UNTIL_TEN);
  observe('01:00', [['a', { notBefore }]]);
  assert.deepEqual([next(), advance('10:00')], ['10:00', []]);
  observe('10:30', [['a', { eventStatus: 'Started' }]]);
  assert.deepEqual(observe('11:00', [['a', { notBefore }]]), ['a 2026-01-01T11:00: start 2026-01-01T12:00:00Z']);
});

test('a start that Azure takes back ends no sooner what the event waits for: a deadline that passed meanwhile is over', () => {
  const { observe, advance, next } = forecastOf(WAITS_UNTIL_TEN);
  observe('01:00', [['a', { notBefore }]]);
  observe('09:00', [['a', { eventStatus: 'Started' }]]);
  assert.deepEqual([next(), advance('10:00')], [null, []]);
  assert.deepEqual(observe('11:00', [['a', { notBefore }]]), ['a 2026-01-01T11:00: start 2026-01-01T12:00:00Z']);
});

test('an event that has ended waits for nothing', () => {
  const { observe, next } = forecastOf(WAITS_UNTIL_TEN);
  observe('01:00', [['a', { notBefore }]]);
  assert.equal(next(), '10:00');
  assert.deepEqual([observe('02:00', []), next()], [[], null]);
});

test('what a rule has approved waits for nothing, also not for the end of its window', () => {
  const { observe, advance, next } = forecastOf({
    windows: { morning: daily('03:00', '04:00') },
    policy: rule({ during: ['morning'] }),
  });
  assert.deepEqual(observe('01:00', [['a', { notBefore: '2026-01-09T12:00:00Z' }]]), [
    'a 2026-01-01T01:00: approve 2026-01-01T03:00:00Z',
  ]);
  assert.deepEqual([next(), advance('03:00'), next(), advance('04:00'), next()], ['03:00', [], '04:00', [], null]);
});

test('a deadline that leaves the event to Azure approves nothing, and brings no news', () => {
  const { observe, advance, next } = forecastOf({
    policy: rule({ deadline: { ...DEADLINE, then: 'leave' } }, 'wait'),
  });
  assert.deepEqual(observe('01:00', [['a', { notBefore }]]), ['a 2026-01-01T01:00: start 2026-01-01T12:00:00Z']);
  assert.deepEqual([next(), advance('10:00'), next()], ['10:00', [], null]);
});

test('only an approval by the deadline is due', () => {
  const isDueOf = (settings: ApprovalSettings, documents: readonly (readonly [string, string])[]) =>
    played(
      { ...settings, budgets: ONE_DATABASE },
      documents.map(([time, until]) => [at(time), [['a', { notBefore: `${DAY}T${until}:00Z` }]]]),
      at('12:00'),
    ).map(({ isDue, nextStep }) => `${nextStep.action} ${isDue}`);
  const waits = WAITS_UNTIL_TEN;
  assert.deepEqual(isDueOf({ policy: rule({}) }, [['01:00', '12:00']]), ['approve false'], 'a rule without a deadline');
  assert.deepEqual(isDueOf(waits, [['10:30', '12:00']]), ['start false'], 'a deadline that had passed already');
  assert.deepEqual(
    isDueOf(waits, [
      ['01:00', '12:00'],
      ['10:30', '12:15'],
    ]),
    ['approve false', 'start false'],
    'a deadline that approved, and was passed when it moved',
  );
});

test('the rest of an ended event is waited for only while a budget holds something back', () => {
  const { observe, advance, next } = forecastOf({ budgets: ONE_DATABASE, policy: rule({ budgets: ['databases'] }) });
  const a: Document[number] = ['a', { resources: ['db_0'], notBefore }];
  const b: Document[number] = ['b', { resources: ['db_1'], notBefore }];
  const other: Document[number] = ['other', { resources: ['web_0'], notBefore }];
  assert.equal(next(), null);
  observe('01:00', [a, other]);
  observe('02:00', [other]);
  assert.equal(next(), null);
  assert.deepEqual(observe('02:05', [other, b]), ['b 2026-01-01T02:05: approve once it fits, held back by databases']);
  assert.equal(next(), '02:10');
  assert.deepEqual([advance('02:10'), next()], [['b 2026-01-01T02:10: approve 2026-01-01T02:10:00Z'], null]);
});

test('an event that no rule has approved and a drill do not rest after their end', () => {
  const settings: ApprovalSettings = {
    budgets: ONE_DATABASE,
    policy: [
      { when: { impacts: ['Redeploy'] }, then: 'never' },
      { when: {}, then: 'approve', budgets: ['databases'] },
    ],
  };
  for (const [key, eventType] of [
    ['a', 'Redeploy'],
    [DRILL, 'Freeze'],
  ] as const) {
    const { observe } = forecastOf(settings);
    observe('01:00', [[key, { eventType, resources: ['db_0'], notBefore }]]);
    assert.deepEqual(
      observe('02:00', [['b', { resources: ['db_1'], notBefore }]]),
      ['b 2026-01-01T02:00: approve 2026-01-01T02:00:00Z'],
      key,
    );
  }
});

test('a drill waits for a maintenance, and takes no place of one', () => {
  const settings = { budgets: ONE_DATABASE, policy: rule({ budgets: ['databases'] }) };
  const drill: Document[number] = [DRILL, { resources: ['db_1'], notBefore: `${DAY}T11:00:00Z` }];
  const held = (time: string) => `${DRILL} 2026-01-01T${time}: approve once it fits, held back by databases`;
  const { observe } = forecastOf(settings);
  assert.deepEqual(observe('01:00', [['busy', STARTED_BUSY], drill]).slice(1), [held('01:00')]);
  // The drill is first by its NotBefore, and each fits alone.
  const waiting: Document[number] = ['b', { resources: ['db_2'], notBefore }];
  const both = forecastOf(settings);
  assert.deepEqual(both.observe('01:00', [drill, waiting]), [
    held('01:00'),
    'b 2026-01-01T01:00: approve 2026-01-01T01:00:00Z',
  ]);
});

test('what a rule without budgets approves is in use, too, at once or at its deadline', () => {
  for (const terms of [{ then: 'approve' }, { then: 'wait', deadline: DEADLINE }] as const) {
    const { observe, advance } = forecastOf({
      budgets: ONE_DATABASE,
      policy: [
        { when: { impacts: ['Redeploy'] }, ...terms },
        { when: {}, then: 'approve', budgets: ['databases'] },
      ],
    });
    const a: Document[number] = ['a', { eventType: 'Redeploy', resources: ['db_0'], notBefore }];
    observe('01:00', [a]);
    advance('10:00');
    assert.deepEqual(observe('10:30', [a, ['b', { resources: ['db_1'], notBefore }]]), [
      'b 2026-01-01T10:30: approve once it fits, held back by databases',
    ]);
  }
});

test('in a dry run, Azure starts each event, and what a rule would approve counts in the budgets', () => {
  const settings = { dryRun: true, budgets: ONE_DATABASE, policy: rule({ budgets: ['databases'] }) };
  assert.deepEqual(
    forecastOf(settings).observe('01:00', [
      ['a', { resources: ['db_0'], notBefore }],
      ['b', { resources: ['db_1'], notBefore }],
    ]),
    [
      'a 2026-01-01T01:00: start 2026-01-01T12:00:00Z',
      'b 2026-01-01T01:00: start 2026-01-01T12:00:00Z, held back by databases',
    ],
  );
});

/** What a random month lists: each event from its announcement until its start and its end. */
interface Life {
  readonly key: string;
  readonly fields: Partial<ScheduledEvent>;
  readonly seenMs: number;
  readonly startMs: number;
  readonly endMs: number;
}

const START_MS = Date.UTC(2026, 2, 27);
const DAYS = 6;

function randomMonth(seed: number) {
  const { random } = new VirtualTime({ seed });
  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(...values: readonly T[]): T => values[below(values.length)] as T;
  const time = () => `${String(below(24)).padStart(2, '0')}:${pick('00', '30')}`;
  const window = (): WindowOptions => {
    const from = time();
    const to = pick(...['04:15', '13:45', '22:15']);
    const days = EVERY_DAY.filter(() => random() < 0.7);
    const timeZone = pick('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/St_Johns');
    return { days: days.length > 0 ? days : EVERY_DAY, from, to, except: [], timeZone };
  };
  const settings: ApprovalSettings = {
    windows: { one: window(), other: window() },
    budgets: { web: { resources: ['web_*'], atMost: 1 + below(2), restMs: pick(0, 10, 90) * MINUTE_MS } },
    policy: [
      { when: { impacts: ['Redeploy'] }, then: 'approve', during: pick(['one'], ['one', 'other']), budgets: ['web'] },
      { when: { impacts: ['Reboot'] }, then: 'approve', during: ['other'] },
      {
        when: { impacts: ['Preempt'] },
        then: 'wait',
        budgets: ['web'],
        deadline: { beforeMs: 20 * MINUTE_MS, then: 'approve' },
      },
      { when: { impacts: ['Freeze'] }, then: 'approve', budgets: ['web'] },
    ],
  };
  const lives = Array.from({ length: 12 }, (_, index): Life => {
    // Odd seconds, so that no document is read at the very moment of a decision.
    const seenMs = START_MS + below(DAYS * 24 * 60) * MINUTE_MS + 17_000;
    const startMs = seenMs + pick(15, 120, 1500, 4000) * MINUTE_MS;
    const endMs = startMs + pick(5, 30, 300) * MINUTE_MS;
    const resources = pick(['web_0'], ['web_1'], ['web_2'], ['web_0', 'db_0'], ['db_1']);
    const fields = { eventType: pick('Redeploy', 'Reboot', 'Preempt', 'Freeze'), resources };
    return { key: `e${index}`, fields, seenMs, startMs, endMs };
  });
  return { settings, lives };
}

function documentAt(lives: readonly Life[], atMs: number): Document {
  return lives.flatMap(({ key, fields, seenMs, startMs, endMs }): Document => {
    if (atMs < seenMs || atMs >= endMs) return [];
    const isStarted = atMs >= startMs;
    const notBefore = isStarted ? null : new Date(startMs).toISOString();
    return [[key, { ...fields, eventStatus: isStarted ? 'Started' : 'Scheduled', notBefore }]];
  });
}

/** The moments at which what was told comes true: `approve` at a time before which nothing else is told. */
function toldMoments(forecasted: readonly Forecasted[]): ReadonlyMap<string, number> {
  const told = new Map<string, number>();
  for (const { event, atMs, nextStep } of forecasted) {
    if ((told.get(event.eventId) ?? Number.POSITIVE_INFINITY) < atMs) continue;
    told.delete(event.eventId);
    if (nextStep.action === 'approve' && nextStep.at !== null) told.set(event.eventId, Date.parse(nextStep.at));
  }
  return told;
}

test('what it tells of random weeks is what a bridge posts for the same documents', { timeout: 300_000 }, async () => {
  let count = 0;
  let held = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const { settings, lives } = randomMonth(seed);
    const moments = [...new Set(lives.flatMap(({ seenMs, startMs, endMs }) => [seenMs, startMs, endMs]))].sort(
      (one, other) => one - other,
    );
    const forecasted = played(
      settings,
      moments.map((ms) => [ms, documentAt(lives, ms)]),
      Math.max(...moments),
    );
    const fixture = new ApprovalsFixture({ startMs: START_MS });
    const approvals = fixture.open(settings);
    for (const ms of moments) {
      await fixture.time.advance(ms - fixture.time.wallMs());
      const events = eventsOf(documentAt(lives, ms));
      for (const key of fixture.service.keys()) if (!events.has(key)) fixture.end(key);
      for (const [key, event] of events)
        if (JSON.stringify(fixture.service.get(key)) !== JSON.stringify(event)) fixture.list(key, event);
      fixture.poll();
    }
    await fixture.close(approvals);
    const posted = fixture.posts.flatMap(({ eventIds, atMs }) =>
      eventIds.map((key) => [key, START_MS + atMs] as const),
    );
    const told = toldMoments(forecasted);
    const minutes = (pairs: Iterable<readonly [string, number]>) =>
      [...pairs].map(([key, ms]) => `${key} ${new Date(ms).toISOString().slice(0, 16)}`).toSorted();
    assert.deepEqual(minutes(told), minutes(posted), `seed ${seed}`);
    count += posted.length;
    held += forecasted.filter(({ heldBackBy }) => heldBackBy.length > 0).length;
  }
  // The weeks must not be so quiet that the comparison says nothing.
  assert.ok(count > 1000 && held > 50, `${count} posts, ${held} times held back`);
});
