// Values and our own Liquid filters → English times in any zone, whole characters, Slack's escapes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeSlack, formatDate, truncate } from '../../../../../adapters/webhook/template/template-filters.ts';

const TIME = '2022-04-11T22:26:08Z';

const DATES: readonly (readonly [value: unknown, args: readonly unknown[], text: string])[] = [
  [TIME, [], '2022-04-11 22:26:08 UTC'],
  ['2026-01-01T00:00:00.250Z', [], '2026-01-01 00:00:00 UTC'],
  [
    TIME,
    ['%a %A %e %d %b %B %m %Y %H %M %S %F %T %R %Z %s %%'],
    'Mon Monday 11 11 Apr April 04 2022 22 26 08 2022-04-11 22:26:08 22:26 UTC 1649715968 %',
  ],
  [TIME, ['%F %R', 'Europe/Berlin'], '2022-04-12 00:26'],
  [TIME, ['%F %R %Z', 'America/New_York'], '2022-04-11 18:26 EDT'],
  ['2022-04-12T00:26:08+02:00', ['%s'], '1649715968'],
  ['2022-03-27T01:30:00Z', ['%R', 'Europe/Berlin'], '03:30'],
  ['2022-01-01T00:00:00Z', ['%H %e'], '00 1'],
  [null, ['%F'], ''],
  ['', ['%F'], ''],
  ['now', ['%F'], 'now'],
  ['today', ['%F'], 'today'],
  ['2022-04-11', ['%F'], '2022-04-11'],
  ['April 11, 2022', ['%F'], 'April 11, 2022'],
  ['2022-99-99T00:00:00Z', ['%F'], '2022-99-99T00:00:00Z'],
  [5, ['%F'], '5'],
];

for (const [value, args, text] of DATES) {
  test(`date: ${JSON.stringify([value, ...args])} is ${text}`, () => {
    assert.equal(formatDate(value, ...args), text);
  });
}

const CUTS: readonly (readonly [value: unknown, args: readonly unknown[], text: string])[] = [
  ['abcdef', [6], 'abcdef'],
  ['abcdef', [5], 'abcd…'],
  ['abcdef', [5, '...'], 'ab...'],
  ['abcdef', [5, ''], 'abcde'],
  ['abcdef', [2, '...'], '..'],
  ['abcdef', [0], ''],
  ['a😀😀', [3], 'a…'],
  ['a😀😀', [4], 'a😀…'],
  ['x'.repeat(101), [], `${'x'.repeat(99)}…`],
  [null, [5], ''],
  [['a', 'b'], [5], 'a, b'],
  [12_345, [3], '12…'],
];

for (const [value, args, text] of CUTS) {
  test(`truncate: ${JSON.stringify([value, ...args]).slice(0, 60)} is ${text.slice(0, 20)}`, () => {
    assert.equal(truncate(value, ...args), text);
  });
}

test('slack escapes its three characters alone, and an entity once more', () => {
  assert.equal(escapeSlack('<!channel> & "it\'s" &amp; *b*'), '&lt;!channel&gt; &amp; "it\'s" &amp;amp; *b*');
});
