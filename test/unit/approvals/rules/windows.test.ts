// compileCalendar, against an oracle that walks the minutes of a wall clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileCalendar, contains, WEEKDAYS, type WindowOptions } from '../../../../src/approvals/rules/windows.ts';
import { ZONES } from '../../../virtual/time-zones.ts';

const DAILY: WindowOptions = { days: WEEKDAYS, from: '00:00', to: '24:00', except: [], timeZone: 'UTC' };
const MINUTE_MS = 60_000;

/** `2026-03-29T01:00Z/2026-03-29T03:00Z nights`. */
function opening(options: Partial<WindowOptions>, at: string): string | null {
  const found = compileCalendar({ nights: { ...DAILY, ...options } })(['nights'], Date.parse(at));
  return found && `${short(found.fromMs)}/${short(found.untilMs)}`;
}

function short(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16)}Z`;
}

test('a window begins at from on each of its days, and ends at to; over midnight, on the next day', () => {
  const nights = { days: ['Mon'], from: '22:00', to: '05:00' } as const;
  assert.equal(opening(nights, '2026-11-23T21:59:59Z'), '2026-11-23T22:00Z/2026-11-24T05:00Z');
  assert.equal(opening(nights, '2026-11-24T04:59:59Z'), '2026-11-23T22:00Z/2026-11-24T05:00Z');
  assert.equal(opening(nights, '2026-11-24T05:00:00Z'), '2026-11-30T22:00Z/2026-12-01T05:00Z');
});

test('a date in except does not open it, and the evening before goes on', () => {
  const nights = { from: '22:00', to: '05:00', except: ['2026-12-24'] };
  assert.equal(opening(nights, '2026-12-24T01:00Z'), '2026-12-23T22:00Z/2026-12-24T05:00Z');
  assert.equal(opening(nights, '2026-12-24T06:00Z'), '2026-12-25T22:00Z/2026-12-26T05:00Z');
});

for (const [zone, options, at, expected] of [
  ['Europe/Berlin', { from: '02:30', to: '04:00' }, '2026-03-28T12:00Z', '2026-03-29T01:00Z/2026-03-29T02:00Z'],
  ['Europe/Berlin', { from: '02:15', to: '02:45' }, '2026-03-28T12:00Z', '2026-03-30T00:15Z/2026-03-30T00:45Z'],
  ['Europe/Berlin', { from: '02:30', to: '02:45' }, '2026-10-24T12:00Z', '2026-10-25T00:30Z/2026-10-25T01:45Z'],
  ['America/New_York', { from: '02:30', to: '03:30' }, '2026-03-07T12:00Z', '2026-03-08T07:00Z/2026-03-08T07:30Z'],
  ['America/New_York', { from: '01:30', to: '01:45' }, '2026-10-31T12:00Z', '2026-11-01T05:30Z/2026-11-01T06:45Z'],
  ['Australia/Lord_Howe', { from: '02:15', to: '03:00' }, '2026-10-03T12:00Z', '2026-10-03T15:30Z/2026-10-03T16:00Z'],
  ['Australia/Lord_Howe', { from: '01:45', to: '02:00' }, '2026-04-04T12:00Z', '2026-04-04T14:45Z/2026-04-04T15:30Z'],
  ['Asia/Kolkata', { from: '00:00', to: '24:00' }, '2026-11-24T00:00Z', '2026-11-23T18:30Z/2026-11-24T18:30Z'],
  ['America/St_Johns', { from: '02:30', to: '03:30' }, '2026-03-07T12:00Z', '2026-03-08T05:30Z/2026-03-08T06:00Z'],
] as const) {
  test(`${zone}: ${options.from} to ${options.to} after ${at}`, () => {
    assert.equal(opening({ ...options, timeZone: zone }, at), expected);
  });
}

test('of several windows, the first that opens; of those that are open, the one that ends last', () => {
  const calendar = compileCalendar({
    early: { ...DAILY, from: '20:00', to: '22:00' },
    late: { ...DAILY, from: '21:00', to: '23:00' },
  });
  const at = (time: string) => calendar(['early', 'late'], Date.parse(`2026-11-24T${time}Z`))?.window;
  assert.deepEqual([at('19:00'), at('20:30'), at('21:30'), at('22:30')], ['early', 'early', 'late', 'late']);
});

test('of windows that open together, the first name; of those that are open since this moment, the one that ends last', () => {
  const calendar = compileCalendar({
    short: { ...DAILY, from: '20:00', to: '21:00' },
    long: { ...DAILY, from: '20:00', to: '23:00' },
  });
  const at = (time: string) => calendar(['short', 'long'], Date.parse(`2026-11-24T${time}Z`))?.window;
  assert.deepEqual([at('19:59'), at('20:00')], ['short', 'long']);
});

test('an opening contains its beginning and not its end', () => {
  const inside = [9, 10, 19, 20].map((atMs) => contains({ fromMs: 10, untilMs: 20 }, atMs));
  assert.deepEqual(inside, [false, true, true, false]);
});

test('a window without a configuration never opens', () => {
  assert.equal(compileCalendar({ nights: DAILY })(['days'], 0), null);
});

test('the next opening is searched for 400 days', () => {
  const weekMs = 7 * 86_400_000;
  const saturday = Date.parse('2026-01-03');
  const sundays = Array.from({ length: 57 }, (_, week) => saturday + 86_400_000 + week * weekMs);
  const except = sundays.map((atMs) => new Date(atMs).toISOString().slice(0, 10));
  const after400 = '2027-02-07T00:00Z/2027-02-08T00:00Z';
  assert.equal(opening({ days: ['Sun'], except }, '2026-01-03T12:00Z'), after400);
  assert.equal(opening({ days: ['Sun'], except }, '2026-01-02T12:00Z'), null);
});

test('a window that never opens again has no opening', () => {
  assert.equal(compileCalendar({ never: { ...DAILY, days: ['Mon'], except: [] } })([], 0), null);
});

/** Whether the wall clock of the zone is inside the window, by walking back over the minutes to its beginning. */
function isOpenByWalking(options: WindowOptions, atMs: number): boolean {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: options.timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const clock = (ms: number) => format.format(ms);
  const [today = ''] = clock(atMs).split(' ');
  for (const back of [0, 1]) {
    const date = new Date(Date.parse(today) - back * 86_400_000).toISOString().slice(0, 10);
    const next = new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
    if (!options.days.includes(WEEKDAYS[new Date(date).getUTCDay()] as never) || options.except.includes(date))
      continue;
    const last = options.to === '24:00' ? `${next} 00:00` : `${options.to > options.from ? date : next} ${options.to}`;
    if (hasCome(clock, `${date} ${options.from}`, atMs) && !hasPassedForTheLastTime(clock, last, atMs)) return true;
  }
  return false;
}

/** Whether the clock has shown this time or a later one, at or before `atMs`. */
function hasCome(clock: (ms: number) => string, time: string, atMs: number): boolean {
  for (let ms = atMs; ms > atMs - 2 * 3_600_000; ms -= MINUTE_MS) if (clock(ms) >= time) return true;
  return false;
}

/** Whether the clock shows this time or a later one, and never an earlier one or this one again. */
function hasPassedForTheLastTime(clock: (ms: number) => string, time: string, atMs: number): boolean {
  if (clock(atMs) < time) return false;
  for (let ms = atMs + MINUTE_MS; ms <= atMs + 2 * 3_600_000; ms += MINUTE_MS) if (clock(ms) <= time) return false;
  return true;
}

const minute = fc.integer({ min: 0, max: 1439 });
const clockTime = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

test('a minute is inside an opening if the clock that is walked says so', () => {
  const changes = [
    '2026-03-29T01:00Z',
    '2026-10-25T01:00Z',
    '2026-03-08T07:00Z',
    '2026-11-01T06:00Z',
    '2026-04-04T15:00Z',
    '2026-10-03T15:30Z',
  ];
  const arbitrary = fc.record({
    timeZone: fc.constantFrom(...ZONES),
    days: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }),
    from: minute,
    to: minute,
    near: fc.constantFrom(...changes),
    offset: fc.integer({ min: -2000, max: 2000 }),
  });
  fc.assert(
    fc.property(arbitrary, ({ timeZone, days, from, to, near, offset }) => {
      fc.pre(from !== to);
      const options = { timeZone, days, from: clockTime(from), to: clockTime(to), except: [] };
      const atMs = Date.parse(near) + offset * MINUTE_MS;
      const found = compileCalendar({ window: options })(['window'], atMs);
      assert.equal(
        found !== null && found.fromMs <= atMs,
        isOpenByWalking(options, atMs),
        JSON.stringify(options) + short(atMs),
      );
    }),
    { numRuns: 2000 },
  );
});
