// parseYaml: text to data, and the place of what is no YAML.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '../../src/config/yaml-text.ts';

function faults(text: string): readonly { path: string; message: string }[] {
  const result = parseYaml(text);
  return 'faults' in result ? result.faults : [];
}

test('dates, octals and yes stay what YAML 1.2 says they are', () => {
  assert.deepEqual(parseYaml('{ a: 2020-07-01, b: 010, c: yes, d: ~, e: 0o10 }'), {
    value: { a: '2020-07-01', b: 10, c: 'yes', d: null, e: 8 },
  });
});

test('a byte order mark and carriage returns are read over', () => {
  assert.deepEqual(parseYaml('\uFEFFversion: 1\r\nstore: {}\r\n'), { value: { version: 1, store: {} } });
});

test('a key that stands twice is a fault with its place', () => {
  assert.deepEqual(faults('a: 1\nb:\n  c: 1\n  c: 2\n'), [
    { path: 'line 4, column 3', message: 'the same key stands twice in one mapping' },
  ]);
});

test('broken syntax is a fault with its place, and quotes nothing of the file', () => {
  const [first, ...more] = faults('version: 1\ntoken: "sEcReT\n');
  assert.equal(first?.path, 'line 3, column 1');
  assert.doesNotMatch(JSON.stringify([first, ...more]), /sEcReT/);
});

test('several faults of syntax are all reported', () => {
  assert.deepEqual(
    faults('a: 1\na: 2\nb: 1\nb: 2\n').map(({ path }) => path),
    ['line 2, column 1', 'line 4, column 1'],
  );
});

test('unknown tags, a second document and a mapping as a key are faults', () => {
  for (const text of ['a: !secret x', 'a: 1\n---\nb: 2', '? { a: 1 }\n: 2', 'a: *nobody']) assert.notDeepEqual(faults(text), [], text);
});

test('aliases that multiply without end are refused', () => {
  const levels = Array.from({ length: 12 }, (_, level) => `l${level}: &l${level} [${level === 0 ? 'x' : `*l${level - 1}, `.repeat(10)}]`);
  assert.match(faults(levels.join('\n'))[0]?.message ?? '', /no usable YAML/);
});

test('a __proto__ key becomes a key like any other', () => {
  const result = parseYaml('__proto__: { polluted: 1 }');
  assert.ok('value' in result && Object.hasOwn(result.value as object, '__proto__'));
  assert.equal('polluted' in {}, false);
});
