// Lines and the size of a terminal → lines that fit it.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { fitScreen, type Line } from '../../../../src/verbs/bridge/fit-screen.ts';

const entries = (of: 'events' | 'sinks', count: number, linesOfOne = 1): readonly Line[] =>
  Array.from({ length: count * linesOfOne }, (_, line) => {
    const index = Math.floor(line / linesOfOne);
    return { text: `  ${of} ${index} ${line % linesOfOne}`, entry: { of, index } };
  });

const screen = (events: number, sinks: number, linesOfOne = 1): readonly Line[] => [
  { text: 'ready', colour: 'green' },
  { text: `events         ${events}` },
  ...entries('events', events, linesOfOne),
  { text: `sinks          ${sinks}` },
  ...entries('sinks', sinks),
  { text: 'dead letters   0' },
];

const textsOf = (lines: readonly Line[]) => lines.map(({ text }) => text);

test('what fits stays as it is', () => {
  assert.deepEqual(fitScreen(screen(3, 2), { columns: 80, rows: 10 }), screen(3, 2));
  assert.deepEqual(fitScreen(screen(900, 90), { columns: Infinity, rows: Infinity }), screen(900, 90));
});

test('the last events and sinks that do not fit are counted, and an event keeps both of its lines', () => {
  const texts = textsOf(fitScreen(screen(202, 30, 2), { columns: 80, rows: 24 }));
  assert.equal(texts.length, 22);
  assert.deepEqual(texts.slice(1, 4), ['events         202', '  events 0 0', '  events 0 1']);
  assert.ok(texts.includes('  events 3 1') && !texts.includes('  events 4 0'));
  assert.ok(texts.includes('  … 198 more events; --all shows them'));
  assert.ok(texts.includes('  sinks 7 0') && texts.includes('  … 22 more sinks; --all shows them'));
  assert.equal(texts.at(-1), 'dead letters   0');
});

test('one that does not fit is counted in the singular', () => {
  assert.ok(textsOf(fitScreen(screen(2, 1, 2), { columns: 80, rows: 9 })).includes('  … 1 more event; --all shows it'));
});

test('few sinks leave their rows to the events', () => {
  const texts = textsOf(fitScreen(screen(202, 1), { columns: 80, rows: 24 }));
  assert.equal(texts.length, 23);
  assert.ok(texts.includes('  … 185 more events; --all shows them') && texts.includes('  sinks 0 0'));
});

test('a long line is broken between cells or words, indented, and loses nothing', () => {
  const text = `  hooks  webhook  retrying  3 queued  0 dead  last error: ${'give the file of that authority in tls.ca '.repeat(6)}`;
  const lines = fitScreen([{ text, colour: 'yellow' }], { columns: 60, rows: 24 });
  assert.ok(lines.length > 4);
  assert.ok(lines.every((line) => line.text.length <= 60 && line.colour === 'yellow'));
  assert.ok(lines.slice(1).every((line) => line.text.startsWith('      ')));
  assert.equal(
    lines
      .map((line) => line.text.trim())
      .join(' ')
      .replace(/ +/g, ' '),
    text.trim().replace(/ +/g, ' '),
  );
});

test('for every size at least the first event and sink are shown, no line is too long, and no more lines than rows', () => {
  const sizes = fc.record({
    columns: fc.integer({ min: 20, max: 200 }),
    rows: fc.integer({ min: 10, max: 60 }),
    events: fc.nat(300),
    sinks: fc.nat(40),
  });
  fc.assert(
    fc.property(sizes, ({ columns, rows, events, sinks }) => {
      const lines = fitScreen(screen(events, sinks), { columns, rows });
      assert.ok(lines.every(({ text }) => text.length <= Math.max(columns, 40)));
      assert.ok(lines.length <= rows - 1, `${lines.length} lines`);
      for (const kind of ['events', 'sinks'] as const)
        assert.equal(textsOf(lines).includes(`  ${kind} 0 0`), (kind === 'events' ? events : sinks) > 0);
    }),
  );
});
