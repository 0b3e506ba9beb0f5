// JSON with long texts that are cut → within its bytes, still JSON, nothing else changed.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { boundedJson } from '../../../src/log-record/bounded-json.ts';
import { hostileText } from './samples.ts';

const isData = (member: string) => member === 'data';
const bounded = (value: Readonly<Record<string, unknown>>, maxBytes: number) => boundedJson(value, maxBytes, isData);

test('JSON that fits is not cut, to the last byte', () => {
  const value = { id: 'x', data: { text: 'ä'.repeat(100) } };
  const size = Buffer.byteLength(JSON.stringify(value));
  assert.equal(bounded(value, size), JSON.stringify(value));
  assert.notEqual(bounded(value, size - 1), JSON.stringify(value));
});

test('the longest texts are cut to one length; shorter ones and other members are not cut', () => {
  const data = {
    long: 'a'.repeat(900),
    longer: ['b'.repeat(5000)],
    short: 'c'.repeat(200),
    nested: { id: 'd'.repeat(64) },
    number: 7,
  };
  const made = JSON.parse(bounded({ id: 'e'.repeat(300), data }, 2400) ?? assert.fail('refused'));
  const { long, longer } = made.data;
  assert.deepEqual(made, { id: 'e'.repeat(300), data: { ...data, long, longer } });
  assert.ok(long.endsWith('a…') && longer[0].endsWith('b…') && Math.abs(long.length - longer[0].length) <= 1);
});

test('texts of up to 64 characters are never cut: null if that is not enough', () => {
  const names = Array.from({ length: 100 }, (_, index) => `${'vm-'.repeat(20)}${index}`);
  assert.equal(bounded({ data: { names, description: 'x'.repeat(10_000) } }, 4000), null);
  const made = JSON.parse(
    bounded({ data: { names, description: 'x'.repeat(10_000) } }, 8000) ?? assert.fail('refused'),
  );
  assert.deepEqual(made.data.names, names);
});

test('a text is cut between characters, never inside one', () => {
  for (let most = 400; most < 420; most++) {
    const made = bounded({ data: { text: '💥'.repeat(1000) } }, most) ?? assert.fail('refused');
    assert.match(JSON.parse(made).data.text, /^(?:💥)+…$/u);
  }
});

test('with any texts and any limit the result is within the limit and still JSON, and texts lose only their ends', () => {
  const text = hostileText.map((piece) => piece.repeat(80));
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 5 }),
      text,
      fc.integer({ min: 100, max: 6000 }),
      (list, alone, maxBytes) => {
        const made = bounded({ id: 'x', data: { list, alone } }, maxBytes);
        if (made === null) return;
        assert.ok(Buffer.byteLength(made) <= maxBytes);
        const { data } = JSON.parse(made);
        for (const [index, each] of [...list, alone].entries()) {
          const found: string = [...data.list, data.alone][index];
          if (found !== each) assert.ok(found.endsWith('…') && each.startsWith(found.slice(0, -1)) && each.length > 64);
        }
      },
    ),
  );
});
