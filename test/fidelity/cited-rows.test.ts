// Rows of the fidelity table, titles of tests → each row has its tests, each citation its row.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type CitedRow, citationsOf, citedRows, differingRows, pageOf, unknownCitations } from '../docs/cited-rows.ts';

const BASES = ['documented', 'seen', 'choice'];
const PAGE = 'docs/simulate/fidelity.md';

const rows = citedRows(PAGE, /^F-/);
const citations = citationsOf(/^F-\d{2,}$/, /\bF-\d+/g, 'fidelity/cited-rows');

test('the rows are numbered from F-01 without a gap, in any order', () => {
  assert.deepEqual(
    rows.map(({ id }) => id).sort((a, b) => Number(a.slice(2)) - Number(b.slice(2))),
    rows.map((_, index) => `F-${String(index + 1).padStart(2, '0')}`),
  );
  assert.ok(rows.length > 50);
});

test('every simulated row names exactly the files whose titles cite it', () => {
  assert.deepEqual(differingRows(rows, citations), []);
});

test('exactly the rows without a test say that they are not simulated', () => {
  const saysNot = ({ cells }: CitedRow) => cells.some((cell) => cell.startsWith('not simulated'));
  assert.deepEqual(
    rows.filter(({ tests }) => tests.length === 0).map(({ id }) => id),
    rows.filter(saysNot).map(({ id }) => id),
  );
});

test('every test cites existing rows, at the end of its title', () => {
  assert.deepEqual(unknownCitations(rows, citations), []);
});

test('every row has as many cells as its heading, and a basis', () => {
  const offences = rows.filter(({ cells, columns }) => {
    const basis = columns.indexOf('basis');
    return cells.length !== columns.length || (basis >= 0 && !BASES.includes(cells[basis] ?? ''));
  });
  assert.deepEqual(offences, []);
});

test('every row that the text or the comparison with the mock server cites exists', () => {
  const known = new Set(rows.map(({ id }) => id));
  const named = [...pageOf(PAGE).matchAll(/\bF-\d+/g)].map(([id]) => id);
  assert.deepEqual(
    [...new Set(named)].filter((id) => !known.has(id)),
    [],
  );
});
