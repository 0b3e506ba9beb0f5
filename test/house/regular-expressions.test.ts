// Every regular expression of the sources → it takes linear time, and its file is on the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { analyse } from 'scslre';
import { type Expression, expressionsInSources } from './regular-expressions/expressions.ts';
import { hardTexts } from './regular-expressions/hard-texts.ts';
import { madeAtRunTime } from './regular-expressions/made-at-run-time.ts';

const PAGE = 'docs/develop/regular-expressions.md';
/** Short texts first: what takes exponential or cubic time shows by those, and would not end with a long one. */
const LENGTHS = [28, 300, 3000, 40_000];
/** A linear one takes some milliseconds for the longest text, a quadratic one a second and more. */
const LONGEST_MS = 400;

const files = expressionsInSources();
const all = async () => [...files.flatMap(({ literals }) => literals), ...(await madeAtRunTime())];

test(`each file with a regular expression stands once on ${PAGE}, with whose text it meets and how long that is`, () => {
  const page = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');
  const rows = [...page.matchAll(/^\|.*\|$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`((?:src|adapters)\/[^`]+)`/g)].map(([, path]) => path),
  );
  assert.deepEqual(
    rows.toSorted(),
    files.map(({ path }) => path),
  );
});

test('each regular expression that is made at run time is made here, too, to be looked at', async () => {
  const places = (await madeAtRunTime()).map(({ place }) => place);
  assert.deepEqual(
    files.flatMap(({ made }) => made).filter((place) => !places.includes(place)),
    [],
  );
});

test('no regular expression backtracks more than once over a text, by its form', async () => {
  const faulty = (await all()).filter(({ source, flags }) => analyse({ source, flags }).reports.length > 0);
  assert.deepEqual(faulty.map(words), []);
});

test('no text that is made of a regular expression takes it more than linear time', async () => {
  const slow = (await all()).filter((expression) =>
    hardTexts(expression.source, expression.flags).some((text) => isSlow(expression, text)),
  );
  assert.deepEqual(slow.map(words), []);
});

/** By the processor's time, which other programs of the machine do not add to; three times in a row, as a collection of garbage does. */
function isSlow({ source, flags }: Expression, text: (length: number) => string): boolean {
  const regex = new RegExp(source, flags);
  return LENGTHS.some((length) => {
    const hard = text(length);
    return [1, 2, 3].every(() => {
      const before = process.cpuUsage();
      hard.replace(regex, '');
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000 > LONGEST_MS;
    });
  });
}

function words({ place, source, flags }: Expression): string {
  return `${place}: /${source}/${flags}`;
}
