// Clauses of docs/operate/webhooks.md, titles of tests → each clause has its tests or a reason.
import assert from 'node:assert/strict';
import test from 'node:test';
import { citationsOf, citedRows, differingRows, unknownCitations } from './cited-rows.ts';

/** The clauses of the specifications, by the number of the last one. */
const CLAUSES: Readonly<Record<string, number>> = { H: 15, JS: 9, W: 18, S: 11 };
const ID = /^(?:H|JS|W|S)-\d+$/;

const rows = citedRows('docs/operate/webhooks.md', ID);
const citations = citationsOf(ID, /\((?:H|JS|W|S)-\d+/g, 'docs/webhook-clauses');

test('every clause has its row, in order', () => {
  assert.deepEqual(
    rows.map(({ id }) => id),
    Object.entries(CLAUSES).flatMap(([family, last]) =>
      Array.from({ length: last }, (_, index) => `${family}-${index + 1}`),
    ),
  );
});

test('every row has as many cells as its heading, none of them empty but the last', () => {
  const offences = rows.filter(
    ({ cells, columns }) => cells.length !== columns.length || cells.slice(0, -1).includes(''),
  );
  assert.deepEqual(offences, []);
});

test('every clause names the files whose titles cite it, and no others', () => {
  assert.deepEqual(differingRows(rows, citations), []);
});

test('a clause without a test says that it is not a sender’s, or about something never used', () => {
  const untested = rows.filter(({ tests }) => tests.length === 0);
  assert.deepEqual(
    untested.filter(({ cells }) => !/^\*\*(?:not a sender's|never used)\*\*/.test(cells[2] ?? '')),
    [],
  );
});

test('every citation of a test names a clause that is there, at the end of its title', () => {
  assert.deepEqual(unknownCitations(rows, citations), []);
});
