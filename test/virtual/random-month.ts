// fast-check → random months: windows in zones, budgets, rules and maintenances.
import fc from 'fast-check';
import type { PolicyRule } from '../../src/approvals/rules/options.ts';
import type { WindowOptions } from '../../src/approvals/rules/windows.ts';
import type { Maintenance, Month } from './month-oracle.ts';
import { ZONES } from './time-zones.ts';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const TYPES = ['Freeze', 'Reboot', 'Redeploy', 'Terminate'] as const;
/** One machine with two spellings. */
const NAMES = ['db_1', 'DB_2', 'db_2', 'db_3', 'web_1', 'web_2'] as const;
const HOUR = 60;
const DAY = 24 * HOUR;
const MONTH_DAYS = 30;

/** Each month has the change to or from summer time of some of the zones, or none. */
const STARTS = ['2026-03-01', '2026-03-20', '2026-04-01', '2026-06-01', '2026-10-01', '2026-10-20'] as const;

const time = fc
  .integer({ min: 0, max: 95 })
  .map(
    (quarter) => `${String(Math.floor(quarter / 4)).padStart(2, '0')}:${String((quarter % 4) * 15).padStart(2, '0')}`,
  );

function windowFrom(start: string): fc.Arbitrary<WindowOptions> {
  const date = fc
    .integer({ min: 0, max: MONTH_DAYS })
    .map((day) => new Date(Date.parse(start) + day * DAY * 60_000).toISOString().slice(0, 10));
  return fc
    .record({
      days: fc.subarray([...DAYS], { minLength: 1 }),
      from: fc.oneof(time, fc.constantFrom('01:30', '02:00', '02:30')),
      to: fc.oneof(time, fc.constantFrom('24:00', '02:00', '02:30', '03:00')),
      except: fc.array(date, { maxLength: 3 }),
      timeZone: fc.constantFrom(...ZONES),
    })
    .filter(({ from, to }) => from !== to);
}

const budget = fc.record({
  resources: fc.constantFrom(['db_*'], ['web_*'], ['*'], ['db_*', 'web_*']),
  atMost: fc.integer({ min: 1, max: 2 }),
  restMs: fc.constantFrom(0, 30, 6 * HOUR, 2 * DAY).map((minutes) => minutes * 60_000),
});

const rule: fc.Arbitrary<PolicyRule> = fc
  .record({
    impacts: fc.subarray([...TYPES], { minLength: 1 }),
    then: fc.constantFrom('approve', 'approve', 'approve', 'approve', 'wait', 'never'),
    during: fc.option(fc.subarray(['one', 'two'], { minLength: 1 }), { freq: 4 }),
    budgets: fc.option(fc.subarray(['small', 'large'], { minLength: 1 }), { freq: 4 }),
    deadlineMinutes: fc.constantFrom(5, HOUR, DAY),
  })
  .map(({ impacts, then, during, budgets, deadlineMinutes }): PolicyRule => {
    const asked = budgets === null ? {} : { budgets };
    if (then === 'never') return { when: { impacts }, then };
    if (then === 'wait')
      return { when: { impacts }, then, deadline: { beforeMs: deadlineMinutes * 60_000, then: 'approve' }, ...asked };
    return { when: { impacts }, then: 'approve', ...(during !== null && { during }), ...asked };
  });

function maintenanceOf(index: number): fc.Arbitrary<Maintenance> {
  const minutes = fc.oneof(fc.integer({ min: 1, max: 3 * HOUR }), fc.integer({ min: 1, max: 4 * DAY }));
  return fc.record({
    eventId: fc.constant(`e${index}`),
    eventType: fc.constantFrom(...TYPES),
    resources: fc.subarray([...NAMES], { minLength: 1, maxLength: 3 }),
    fromMinute: fc.integer({ min: 1, max: (MONTH_DAYS - 8) * DAY }),
    noticeMinutes: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(15, 2 * HOUR) },
      { weight: 4, arbitrary: fc.integer({ min: 15, max: 5 * DAY }) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    startDelayMinutes: fc.constantFrom(1, 5, HOUR),
    lengthMinutes: fc.constantFrom(1, 20, 5 * HOUR),
    canceledAfterMinutes: fc.option(minutes, { freq: 1 }).map((after) => after),
    hold: fc
      .option(fc.tuple(minutes, minutes), { freq: 1 })
      .map((given) => given && { fromMinute: given[0], untilMinute: given[0] + given[1] }),
    voteAfterMinutes: fc.option(minutes, { freq: 1 }),
  });
}

function monthFrom(start: string): fc.Arbitrary<Month> {
  return fc.record({
    startMs: fc.constant(Date.parse(start)),
    days: fc.constant(MONTH_DAYS),
    windows: fc.record({ one: windowFrom(start), two: windowFrom(start) }),
    budgets: fc.record({ small: budget, large: budget }),
    policy: fc.array(rule, { minLength: 1, maxLength: 3 }),
    maintenances: fc
      .integer({ min: 1, max: 8 })
      .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => maintenanceOf(index)))),
  });
}

/** Kills at any time, and while a maintenance waits, runs or rests. */
function restartsIn({ maintenances }: Month): fc.Arbitrary<readonly number[]> {
  const soon = fc.tuple(fc.constantFrom(...maintenances), fc.integer({ min: 0, max: 2 * DAY }));
  return fc.uniqueArray(
    fc.oneof(
      fc.integer({ min: 1, max: MONTH_DAYS * DAY }),
      soon.map(([{ fromMinute }, after]) => fromMinute + after),
    ),
    { maxLength: 6 },
  );
}

/** A month, and the minutes after which the process is killed and started again. */
export const randomMonth: fc.Arbitrary<{ readonly month: Month; readonly restarts: readonly number[] }> = fc
  .constantFrom(...STARTS)
  .chain(monthFrom)
  .chain((month) => fc.record({ month: fc.constant(month), restarts: restartsIn(month) }));
