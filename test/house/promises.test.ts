// docs/develop/behaviour.md → each promise is one row: number, sentence, page, test.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import test from 'node:test';

const FOLDER = join(import.meta.dirname, '../../docs/develop');
const PAGE = readFileSync(join(FOLDER, 'behaviour.md'), 'utf8');
const MOST_LINES = 500;
const MOST_WORDS = 25;

interface Promised {
  readonly number: string;
  readonly sentence: string;
  readonly explainedIn: readonly string[];
  readonly shownBy: readonly string[];
}

/** The sections with a number, each with its lines. */
const SECTIONS = PAGE.split(/^## /m)
  .map((section) => ({ number: /^(\d+)\. /.exec(section)?.[1] ?? '', lines: section.split('\n').slice(1) }))
  .filter(({ number }) => number !== '');

const PROMISES: readonly Promised[] = SECTIONS.flatMap(({ lines }) => promisesOf(lines));

/** Table rows of a section, without the head. */
function promisesOf(lines: readonly string[]): readonly Promised[] {
  const rows = lines.filter((line) => line.startsWith('|')).slice(2);
  return rows.map((row) => {
    const [number = '', sentence = '', pages = '', tests = '', ...more] = row.slice(2, -2).split(' | ');
    assert.deepEqual(more, [], row);
    return { number, sentence, explainedIn: targets(pages), shownBy: targets(tests) };
  });
}

function targets(cell: string): readonly string[] {
  return [...cell.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** A file of the repository, by a link of the page. */
function fileOf(target: string): string {
  return normalize(join(FOLDER, target.replace(/#.*/, '')));
}

function failing(holds: (promised: Promised) => boolean): readonly string[] {
  return PROMISES.filter((promised) => !holds(promised)).map(({ number, sentence }) => `${number} ${sentence}`);
}

test('each promise has a number of its section, which no other promise has', () => {
  const misplaced = SECTIONS.flatMap(({ number, lines }) =>
    promisesOf(lines).filter(
      (promised) => !promised.number.startsWith(`${number}.`) || !/^\d+\.\d+$/.test(promised.number),
    ),
  );
  assert.deepEqual(misplaced, []);
  const numbers = PROMISES.map(({ number }) => number);
  assert.deepEqual([...new Set(numbers)], numbers);
  assert.ok(numbers.length > 150, `only ${numbers.length} promises were found`);
});

test(`each promise is one sentence of at most ${MOST_WORDS} words`, () => {
  const words = (sentence: string) => sentence.replaceAll(/`[^`]*`/g, 'CODE').split(/\s+/).length;
  assert.deepEqual(
    failing(
      ({ sentence }) => /^[^.].*\.$/.test(sentence) && !/\. [A-Z`]/.test(sentence) && words(sentence) <= MOST_WORDS,
    ),
    [],
  );
});

test('each promise names a page that explains it', () => {
  assert.deepEqual(
    failing(
      ({ explainedIn }) =>
        explainedIn.length > 0 && explainedIn.every((target) => /\.md(#|$)/.test(target) && existsSync(fileOf(target))),
    ),
    [],
  );
});

test('each promise names a test that shows it', () => {
  assert.deepEqual(
    failing(
      ({ shownBy }) =>
        shownBy.length > 0 &&
        shownBy.every((target) => /\/test\/.*\.test\.ts$/.test(target) && existsSync(fileOf(target))),
    ),
    [],
  );
});

test(`the page is an index: what it says beside its tables is short, and it has at most ${MOST_LINES} lines`, () => {
  const prose = SECTIONS.map(({ number, lines }) => ({
    number,
    lines: lines.filter((line) => line !== '' && !line.startsWith('|')).length,
  }));
  assert.deepEqual(
    prose.filter(({ lines }) => lines > 5),
    [],
  );
  assert.ok(PAGE.split('\n').length <= MOST_LINES + 1);
});
