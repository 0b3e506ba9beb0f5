// package.json's scripts, the test files → each is run once; the unit tests need Node alone.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, normalize } from 'node:path';
import test from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { LONGEST, runOrder } from '../run-order.ts';
import { LONG, tierOf } from '../tiers.ts';

const ROOT = join(import.meta.dirname, '../..');
const scripts: Readonly<Record<string, string>> = packageJson.scripts;

/** The files that a script hands to the test runner. */
function filesOf(script: string): readonly string[] {
  const patterns = [...(scripts[script] ?? '').matchAll(/'(test\/[^']*)'/g)].map(([, pattern = '']) => pattern);
  return globSync(patterns, { cwd: ROOT }).map(normalize);
}

const allTests = globSync('test/**/*.test.ts', { cwd: ROOT }).map(normalize);

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g;

/** Whom a file imports: ours as paths from the root, others by name. */
function importsOf(path: string): readonly string[] {
  const specifiers = [...readFileSync(join(ROOT, path), 'utf8').matchAll(SPECIFIER)].map(([, name = '']) => name);
  return specifiers.map((name) => (name.startsWith('.') ? normalize(join(dirname(path), name)) : name));
}

/** Each way from a test file to `wanted`, through other files of test/. */
function waysTo(path: string, wanted: ReadonlySet<string>, seen = new Set<string>()): readonly string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  return importsOf(path).flatMap((name) => {
    if (wanted.has(name)) return [`${path} → ${name}`];
    return name.startsWith('test/') && name.endsWith('.ts')
      ? waysTo(name, wanted, seen).map((way) => `${path} → ${way}`)
      : [];
  });
}

test('the scripts for parts of the tests run existing files; `npm test` and `npm run test:long` run every test file once', () => {
  assert.ok(allTests.length > 300, 'the tests were not found');
  for (const [script, tier] of [
    ['test', 'quick'],
    ['test:long', 'long'],
  ] as const) {
    assert.match(scripts[script] ?? '', new RegExp(`--tier ${tier} `));
    assert.deepEqual([...filesOf(script)].sort(), [...allTests].sort());
    assert.ok(allTests.filter((path) => tierOf(path) === tier).length > 50, `few files are ${tier}`);
  }
  const parts = Object.keys(scripts).filter((name) => name.startsWith('test:'));
  assert.deepEqual(parts.sort(), [
    'test:docs',
    'test:faults',
    'test:kafka',
    'test:long',
    'test:service-bus',
    'test:unit',
  ]);
  for (const part of parts) assert.ok(filesOf(part).length > 5, `${part} runs ${filesOf(part).length} files`);
});

test('each pattern of the long tier matches a test file, and no unit test is in it', () => {
  const globs = Object.values(LONG).flat();
  assert.deepEqual(
    globs.filter((glob) => !allTests.some((path) => matchesGlob(path, glob))),
    [],
  );
  assert.deepEqual(
    allTests.filter((path) => path.startsWith('test/unit/') && tierOf(path) === 'long'),
    [],
  );
});

test('the slowest files exist, and the order of a run has each file once', () => {
  const { longest, shared, rest } = runOrder(allTests);
  assert.deepEqual(longest, LONGEST);
  assert.deepEqual([...longest, ...shared.flat(), ...rest].sort(), [...allTests].sort());
  assert.ok(shared.length > 5 && rest.length > 50, `${shared.length} processes for many files, ${rest.length} for one`);
});

for (const [script, farSide] of [
  ['test:kafka', 'test/far-sides/kafka/shared-kafka.ts'],
  ['test:kafka', 'test/far-sides/kafka/cluster.ts'],
  ['test:service-bus', 'test/far-sides/service-bus/namespace.ts'],
] as const) {
  test(`${script} runs every test that uses ${farSide}`, () => {
    // What needs both far sides runs where the broker is.
    const run = new Set([...filesOf(script), ...filesOf('test:kafka')]);
    const users = allTests.filter((path) => waysTo(path, new Set([farSide])).length > 0);
    assert.ok(users.length > 5, `${users.length} files use it`);
    assert.deepEqual(
      users.filter((path) => !run.has(path)),
      [],
    );
  });
}

test('no unit test starts another process, directly or through its imports from test/', () => {
  const processes = new Set(['node:child_process', 'node:cluster']);
  const ways = globSync('test/unit/**/*.ts', { cwd: ROOT }).flatMap((path) => waysTo(normalize(path), processes));
  assert.deepEqual(ways, []);
});

test('no unit test needs the build', () => {
  const files = globSync('test/unit/**/*.ts', { cwd: ROOT });
  const built = files.filter((path) => /\.\.\/dist\//.test(readFileSync(join(ROOT, path), 'utf8')));
  assert.deepEqual(built, []);
});
