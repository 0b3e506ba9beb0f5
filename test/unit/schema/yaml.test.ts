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

for (const [what, part] of [
  ['flow lists', '['],
  ['flow mappings', '{'],
  ['mappings in quotes', '{"a":'],
  ['an anchor and mappings', '&a {"a":'],
  ['block lists', '- '],
  ['block keys', '? '],
] as const)
  test(`${what} that are nested too deep are one fault, found in a moment`, () => {
    const text = `a: 1\nb:\n ${part.repeat(60_000 / part.length)}\n`;
    assert.deepEqual(faults(text), [{ path: 'line 3', message: 'is nested more than 100 levels deep' }]);
  });

test('a hundred levels are read, and signs in texts are none', () => {
  const text = `a: ${'['.repeat(99)}${']'.repeat(99)}\nb: "${'['.repeat(1000)}"\nc: { ${'d: "{", '.repeat(3)} }\n# ${'{'.repeat(500)}\n`;
  assert.deepEqual(
    faults(text).map(({ message }) => message.slice(0, 22)),
    ['is a duplicate key, rep', 'is a duplicate key, rep'].map((words) => words.slice(0, 22)),
  );
});

test('of a file that is not YAML, the first hundred faults are reported', () => {
  assert.equal(faults('"'.repeat(40_000)).length, 100);
});
