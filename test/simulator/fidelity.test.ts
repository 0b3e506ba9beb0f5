// The rows of the fidelity table and the titles of tests → each simulated row has its tests, each citation its row, each named file its citation.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const BASES = ['documented', 'seen', 'choice'];

interface Row {
  readonly id: string;
  /** Below test/, without `.test.ts`; empty where nothing is simulated. */
  readonly tests: readonly string[];
  readonly cells: readonly string[];
}

const page = readFileSync(join(ROOT, 'docs/fidelity.md'), 'utf8');

const rows: readonly Row[] = page
  .split('\n')
  .filter((line) => line.startsWith('| F-'))
  .map((line) => {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [id = ''] = cells;
    return { id, cells, tests: [...(cells.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '') };
  });

/** File below test/ without `.test.ts` → the rows that the titles of its tests cite. */
const citations = new Map<string, ReadonlySet<string>>();
/** A row's number outside the end of a title. */
const strays: string[] = [];

for (const path of globSync('test/**/*.test.ts', { cwd: ROOT })) {
  const name = path.split(sep).join('/').slice('test/'.length, -'.test.ts'.length);
  if (name === 'simulator/fidelity') continue;
  const text = readFileSync(join(ROOT, path), 'utf8');
  const endOfTitle = / \((F-\d{2,}(?:, F-\d{2,})*)\)(?=['"`], )/g;
  const ids = [...text.matchAll(endOfTitle)].flatMap(([, list]) => list?.split(', ') ?? []);
  if (ids.length > 0) citations.set(name, new Set(ids));
  for (const [stray] of text.replaceAll(endOfTitle, '').matchAll(/\bF-\d+/g)) strays.push(`${path}: ${stray}`);
}

function citingFiles(id: string): string[] {
  return [...citations].filter(([, ids]) => ids.has(id)).map(([name]) => name);
}

test('the rows are numbered from F-01 without a gap', () => {
  assert.deepEqual(
    rows.map(({ id }) => id),
    rows.map((_, index) => `F-${String(index + 1).padStart(2, '0')}`),
  );
  assert.ok(rows.length > 50);
});

test('every row that is simulated names the files whose titles cite it, and no others', () => {
  const differing = rows
    .map(({ id, tests }) => ({ id, named: [...tests].sort().join(', '), citing: citingFiles(id).sort().join(', ') }))
    .filter(({ named, citing }) => named !== citing);
  assert.deepEqual(differing, []);
});

test('a row without a test says that it is not simulated, and no other does', () => {
  const saysNot = ({ cells }: Row) => cells.some((cell) => cell.startsWith('not simulated'));
  assert.deepEqual(
    rows.filter(({ tests }) => tests.length === 0).map(({ id }) => id),
    rows.filter(saysNot).map(({ id }) => id),
  );
});

test('every citation of a test names a row that is there, at the end of its title', () => {
  const known = new Set(rows.map(({ id }) => id));
  const unknown = [...citations].flatMap(([name, ids]) => [...ids].filter((id) => !known.has(id)).map((id) => `${name}: ${id}`));
  assert.deepEqual([...unknown, ...strays], []);
});

test('every row of a behaviour has as many cells as its heading and says how sure it is', () => {
  const offences: string[] = [];
  let heading: readonly string[] = [];
  for (const line of page.split('\n').filter((text) => text.startsWith('|'))) {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (cells[0] === 'row') heading = cells;
    if (!line.startsWith('| F-')) continue;
    const basis = heading.indexOf('basis');
    if (cells.length !== heading.length || (basis >= 0 && !BASES.includes(cells[basis] ?? ''))) offences.push(line);
  }
  assert.deepEqual(offences, []);
});

test('every row that the text and the comparison with the mock server name is there', () => {
  const known = new Set(rows.map(({ id }) => id));
  const named = [...page.matchAll(/\bF-\d+/g)].map(([id]) => id);
  assert.deepEqual(
    [...new Set(named)].filter((id) => !known.has(id)),
    [],
  );
});
