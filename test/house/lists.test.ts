// Lists on the pages for developers, and the code → both name the same things.
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ADAPTERS } from '../../adapters/index.ts';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

/** The code spans in the first cell of each row whose first cell starts with one. */
function firstCells(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^\| (`[^|]*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

/** The folders of `folder`, as `folder/name/`, relative to test/. */
function foldersOf(folder: string): readonly string[] {
  const entries = readdirSync(join(ROOT, 'test', folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${join(folder, name)}/`);
}

test('test/README.md has a row for each folder of test/, test/adapters/ and test/whole/, and no other row', () => {
  const named = firstCells(text('test/README.md'));
  assert.deepEqual(sorted(named), sorted(['', 'adapters', 'whole'].flatMap(foldersOf)));
  assert.equal(new Set(named).size, named.length);
});

test('the flow of a document in architecture.md names the folder of each adapter, and no other', () => {
  const page = text('docs/develop/architecture.md');
  const rows = page.split('\n').filter((line) => /^\| \d+ \| `adapters\//.test(line));
  assert.equal(rows.length, 1);
  const named = [...(rows[0] ?? '').matchAll(/`adapters\/([^`]+)`/g)].map(([, name = '']) => name);
  assert.deepEqual(sorted(named), sorted(ADAPTERS.map(({ type }) => type)));
});

test('testing.md names each variable that turns a skip into a failure, and no other', () => {
  const named = text('docs/develop/testing.md').match(/\bREQUIRE_[A-Z_]+/g) ?? [];
  const read = globSync('test/**/*.ts', { cwd: ROOT }).flatMap(
    (path) => text(path).match(/(?<=env(?:\.|\['))REQUIRE_[A-Z_]+/g) ?? [],
  );
  assert.deepEqual(sorted(named), sorted(read));
  assert.ok(read.length > 20, `only ${read.length} variables were found`);
});

test('libraries.md has a row for each dependency of package.json, and no other row', () => {
  const rows = text('docs/develop/libraries.md').matchAll(/^\| (?!library \||---)([^|]+) \|/gm);
  const named = [...rows].flatMap(([, cell = '']) => cell.split(', '));
  assert.deepEqual(sorted(named), sorted(Object.keys(packageJson.devDependencies)));
});

test('CONTRIBUTING.md names each script that runs a part of the tests, and no other', () => {
  const named = text('CONTRIBUTING.md').match(/(?<=npm run )test:[a-z-]+/g) ?? [];
  assert.deepEqual(sorted(named), sorted(Object.keys(packageJson.scripts).filter((name) => name.startsWith('test:'))));
});
