// parseYaml: text to data, and the place of what is no YAML.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '../../../src/schema/yaml.ts';

function faults(text: string): readonly { path: string; message: string }[] {
  return parseYaml(text, 'configuration').faults;
}

test('dates, octals and yes have their YAML 1.2 values', () => {
  assert.deepEqual(parseYaml('{ a: 2020-07-01, b: 010, c: yes, d: ~, e: 0o10 }', 'configuration'), {
    value: { a: '2020-07-01', b: 10, c: 'yes', d: null, e: 8 },
    faults: [],
  });
});

test('a byte order mark and carriage returns are ignored', () => {
  assert.deepEqual(parseYaml('\uFEFFversion: 1\r\nstore: {}\r\n', 'configuration'), {
    value: { version: 1, store: {} },
    faults: [],
  });
});

test('a duplicate key is a fault with its path and position, and the last value counts', () => {
  assert.deepEqual(parseYaml('a: 1\nb:\n  - c: 1\n  - c: 1\n    c: 2\n', 'configuration'), {
    value: { a: 1, b: [{ c: 1 }, { c: 2 }] },
    faults: [{ path: 'b[1].c', message: 'is a duplicate key, repeated at line 5, column 5' }],
  });
});

test('broken syntax is a fault with its position, and quotes nothing of the file', () => {
  const [first, ...more] = faults('version: 1\ntoken: "sEcReT\n');
  assert.equal(first?.path, 'line 3, column 1');
  assert.doesNotMatch(JSON.stringify([first, ...more]), /sEcReT/);
});

test('several faults of syntax are all reported', () => {
  assert.deepEqual(
    faults('a: 1\na: 2\nb: 1\nb: 2\nc: [').map(({ path }) => path),
    ['a', 'b', 'line 5, column 5'],
  );
});

test('unknown tags, a second document and a mapping as a key are faults', () => {
  for (const text of ['a: !secret x', 'a: 1\n---\nb: 2', '? { a: 1 }\n: 2', 'a: *nobody'])
    assert.notDeepEqual(faults(text), [], text);
});

test('invalid YAML gives no value', () => {
  assert.equal(parseYaml('version: [', 'configuration').value, undefined);
});

test("a second document is rejected with the bridge's own message", () => {
  assert.deepEqual(faults('version: 1\n---\nversion: 1\n'), [
    { path: 'line 2, column 1', message: 'a second document begins here: a file holds one configuration' },
  ]);
});

test('faults name the kind of the file', () => {
  assert.match(parseYaml('a: 1\n---\nb: 1\n', 'scenario').faults[0]?.message ?? '', /a file holds one scenario$/);
});

test('aliases that multiply are rejected', () => {
  const levels = Array.from(
    { length: 12 },
    (_, level) => `l${level}: &l${level} [${level === 0 ? 'x' : `*l${level - 1}, `.repeat(10)}]`,
  );
  assert.match(faults(levels.join('\n'))[0]?.message ?? '', /is not usable YAML/);
});

test('a __proto__ key becomes a key like any other', () => {
  assert.ok(Object.hasOwn(parseYaml('__proto__: { polluted: 1 }', 'configuration').value as object, '__proto__'));
  assert.equal('polluted' in {}, false);
});

test('thousands of duplicate keys are found in a moment', () => {
  const sinceMs = performance.now();
  const { faults } = parseYaml(`a: {${'0,'.repeat(8000)}}`, 'configuration');
  assert.equal(faults.length, 7999);
  assert.ok(performance.now() - sinceMs < 2000, `${performance.now() - sinceMs} ms`);
});
