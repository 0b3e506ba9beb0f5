// src/formats/dates.ts: which texts are dates, and which moment each of them is.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseInstant, parseNotBefore, parseRetryAfter, toRfc3339Seconds } from '../../../src/formats/dates.ts';

const NOT_BEFORE: readonly (readonly [string, string | null, string])[] = [
  ['Mon, 11 Apr 2022 22:26:58 GMT', '2022-04-11T22:26:58Z', 'RFC 1123'],
  ['Fri, 11 Apr 2022 22:26:58 GMT', '2022-04-11T22:26:58Z', 'a wrong weekday'],
  ['Xyz., 11 Apr 2022 22:26:58 GMT', '2022-04-11T22:26:58Z', 'a word that is not a weekday'],
  ['11 Apr 2022 22:26:58 GMT', '2022-04-11T22:26:58Z', 'no weekday'],
  ['Mon, 1 apr 2022 02:26:58 gmt', '2022-04-01T02:26:58Z', 'a day of one digit and other letter case'],
  ['Mon, 11 APR 2022 22:26 UTC', '2022-04-11T22:26:00Z', 'no seconds, UTC by name'],
  ['Mon, 11 Apr 2022 22:26:58', '2022-04-11T22:26:58Z', 'RFC 1123 without a zone'],
  ['Mon, 11 Apr 2022 22:26:58 +0200', '2022-04-11T20:26:58Z', 'RFC 1123 with an offset'],
  ['  Mon, 11 Apr 2022 22:26:58 GMT ', '2022-04-11T22:26:58Z', 'spaces around'],
  ['2022-04-11T22:26:58Z', '2022-04-11T22:26:58Z', 'RFC 3339'],
  ['2022-04-11t22:26:58z', '2022-04-11T22:26:58Z', 'RFC 3339 in small letters'],
  ['2022-04-11T22:26:58.999999Z', '2022-04-11T22:26:58Z', 'a fraction is cut'],
  ['1969-12-31T23:59:58.999Z', '1969-12-31T23:59:58Z', 'a fraction before 1970 is cut too'],
  ['2022-04-11T22:26:58,5Z', '2022-04-11T22:26:58Z', 'a fraction after a comma'],
  ['2022-04-11T22:26:58', '2022-04-11T22:26:58Z', 'no zone is UTC'],
  ['2022-04-11 22:26:58', '2022-04-11T22:26:58Z', 'a space for the T'],
  ['2022-04-11T22:26', '2022-04-11T22:26:00Z', 'ISO 8601 without seconds'],
  ['2022-04-11', '2022-04-11T00:00:00Z', 'a day without a time'],
  ['2022-04-12T00:26:58+02:00', '2022-04-11T22:26:58Z', 'an offset'],
  ['2022-04-11T17:56:58-0430', '2022-04-11T22:26:58Z', 'an offset without a colon'],
  ['2022-04-12T00:26:58+02', '2022-04-11T22:26:58Z', 'an offset without minutes'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z', 'a leap second'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z', '29 February in a leap year'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z', 'the year 1'],
  ['2022-02-31T00:00:00Z', null, '31 February'],
  ['2023-02-29T00:00:00Z', null, '29 February in another year'],
  ['Mon, 31 Feb 2022 00:00:00 GMT', null, '31 February in RFC 1123'],
  ['Mon, 11 Foo 2022 22:26:58 GMT', null, 'an unknown month'],
  ['2022-13-01T00:00:00Z', null, 'month 13'],
  ['2022-00-01T00:00:00Z', null, 'month 0'],
  ['2022-01-00T00:00:00Z', null, 'day 0'],
  ['2022-04-11T24:00:00Z', null, 'hour 24'],
  ['2022-04-11T22:60:00Z', null, 'minute 60'],
  ['2022-04-11T22:26:61Z', null, 'second 61'],
  ['2022-04-11T22:26:60Z', null, 'second 60 within an hour'],
  ['2022-04-11T22:26:58+24:00', null, 'an offset of a day'],
  ['9999-12-31T23:59:59-01:00', null, 'a year of five digits, by its offset'],
  ['0000-01-01T00:00:00+01:00', null, 'a year before 0, by its offset'],
  ['Mon, 11 Apr 2022 22:26:58 EST', null, 'a named American time zone'],
  ['11/04/2022 22:26:58', null, 'a date of unknown order'],
  ['1649715000', null, 'a number'],
  ['tomorrow', null, 'a word'],
  ['', null, 'an empty text'],
];

describe('parseNotBefore', () => {
  for (const [text, expected, what] of NOT_BEFORE) {
    test(`reads ${what}${expected === null ? ' as null' : ''}: "${text}"`, () =>
      assert.equal(parseNotBefore(text), expected));
  }

  test('reads back every moment in both spellings', () => {
    const seconds = fc.integer({ min: Date.UTC(1000, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 });
    fc.assert(
      fc.property(seconds, (second) => {
        const text = toRfc3339Seconds(second * 1000);
        assert.equal(parseNotBefore(text), text);
        assert.equal(parseNotBefore(new Date(second * 1000).toUTCString()), text);
      }),
    );
  });

  test('never throws, and returns only RFC 3339 or null', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9TZ:+ -]{0,30}$/)), (text) => {
        const parsed = parseNotBefore(text);
        assert.ok(parsed === null || parseInstant(parsed) !== null);
      }),
    );
  });
});

describe('parseInstant', () => {
  test('reads RFC 3339 to the millisecond', () => {
    assert.equal(parseInstant('2022-04-11T22:26:58.1239Z'), Date.UTC(2022, 3, 11, 22, 26, 58, 123));
    assert.equal(parseInstant('2022-04-11T22:26:58.1+00:30'), Date.UTC(2022, 3, 11, 21, 56, 58, 100));
  });

  for (const text of [
    '2022-04-11',
    '2022-04-11T22:26:58',
    '2022-04-11T22:26Z',
    '2022-02-30T00:00:00Z',
    'Mon, 11 Apr 2022 22:26:58 GMT',
    '10s',
    '',
  ]) {
    test(`returns null for "${text}"`, () => assert.equal(parseInstant(text), null));
  }
});

describe('toRfc3339Seconds', () => {
  test('cuts fractions, before 1970 too', () => {
    assert.equal(toRfc3339Seconds(1999), '1970-01-01T00:00:01Z');
    assert.equal(toRfc3339Seconds(-1), '1969-12-31T23:59:59Z');
  });

  test('throws for a year that RFC 3339 cannot express', () => {
    assert.throws(() => toRfc3339Seconds(Date.UTC(10_000, 0, 1)), RangeError);
    assert.throws(() => toRfc3339Seconds(Number.NaN), RangeError);
  });
});

describe('parseRetryAfter', () => {
  const wallMs = Date.UTC(2022, 3, 11, 22, 0, 0);
  const CASES: readonly (readonly [string | undefined, number | null])[] = [
    ['0', 0],
    ['7', 7000],
    [' 7 ', 7000],
    ['31536000', 31_536_000_000],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Mon, 11 Apr 2022 22:00:30 GMT', 30_000],
    ['Monday, 11-Apr-22 22:00:30 GMT', 30_000],
    ['Mon Apr 11 22:00:30 2022', 30_000],
    ['Mon, 11 Apr 2022 21:00:00 GMT', 0],
    ['Friday, 11-Apr-99 22:00:30 GMT', 0],
    [undefined, null],
    ['', null],
    ['-1', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['Mon, 31 Feb 2022 22:00:30 GMT', null],
    ['Monday, 31-Feb-22 22:00:30 GMT', null],
  ];
  for (const [value, expected] of CASES) {
    test(`reads ${value === undefined ? 'no header' : `"${value.slice(0, 40)}"`} as ${expected}`, () =>
      assert.equal(parseRetryAfter(value, wallMs), expected));
  }
});
