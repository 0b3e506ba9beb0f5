// Characters that control a terminal, a log line or JSON → escaped; too long text → cut.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { shortenedText, visible, visibleLine } from '../../../src/formats/visible-text.ts';

const character = (code: number) => String.fromCharCode(code);
const hex = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;

test('C0, DEL, C1, bidirectional controls and line ends are escaped; tab and line feed stay', () => {
  const codes = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index)];
  const others = [
    0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
  ];
  for (const code of [...codes, ...others]) {
    const text = `a${character(code)}b`;
    if (code === 0x09 || code === 0x0a) assert.equal(visible(text), text);
    else assert.equal(visible(text), code === 0x0d ? 'a\\rb' : `a${hex(code)}b`);
  }
  assert.equal(visibleLine('a\nb\r\n\tc'), 'a\\nb\\r\\n\tc');
});

test('all other text stays as it is', () => {
  const text = 'Später „€“ 😀 שלום مرحبا \\ \\u001b "x" {}';
  assert.equal(visibleLine(text), text);
});

test('JSON stays the same JSON, also if it is indented', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      const whole = { value, text, controls: '\u001b[2J\u009b\u202e\u007f' };
      for (const indent of [undefined, 2]) {
        const json = visible(JSON.stringify(whole, null, indent));
        assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(whole)));
        assert.doesNotMatch(json.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u);
      }
    }),
  );
});

test('a text that fits is not changed, and one that is a unit longer ends in …', () => {
  assert.equal(shortenedText('abc', 3), 'abc');
  assert.equal(shortenedText('abcd', 3), 'ab…');
  assert.equal(shortenedText('a💥bc', 3), 'a…');
  assert.equal(shortenedText('a💥bc', 4), 'a💥…');
});

test('every text is cut to every length, and no character is cut in two', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (text, most) => {
      const made = shortenedText(text, most);
      assert.ok(made.length <= most && made.isWellFormed() === text.isWellFormed());
      if (made !== text) assert.ok(made.endsWith('…') && text.startsWith(made.slice(0, -1)) && made.length > most - 2);
    }),
  );
});
