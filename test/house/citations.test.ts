// Numbers that comments and titles cite → each has its heading, promise or row on a page.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The code, without this file, which speaks of citations. */
const sources = globSync(['src/**/*.ts', 'adapters/**/*.ts', 'test/**/*.ts'], { cwd: ROOT })
  .filter((path) => !path.endsWith('citations.test.ts'))
  .map((path) => ({ path, text: text(path) }));

interface Citation {
  readonly path: string;
  readonly what: string;
}

/** The adapter that docs/develop/writing-an-adapter.md makes. */
const GUIDES_OWN = 'adapters/append/';

/** What each of the files cites by the pattern: its last group, or each number in it. */
function cited(pattern: RegExp, name: (match: RegExpExecArray) => readonly string[]): readonly Citation[] {
  return sources.flatMap(({ path, text: source }) =>
    [...source.matchAll(pattern)].flatMap((match) => name(match).map((what) => ({ path, what }))),
  );
}

function missing(citations: readonly Citation[], known: ReadonlySet<string>): readonly string[] {
  return citations.filter(({ what }) => !known.has(what)).map(({ path, what }) => `${path}: ${what}`);
}

/** `## 5. Delivery` is section 5; `| 5.7 | …` of behaviour.md and `**5.7** …` of protocol.md are 5.7. */
function numbersOf(page: string): readonly string[] {
  return [...text(`docs/develop/${page}.md`).matchAll(/^(?:## (\d+)\. |(?:\*\*|\| )(\d+\.\d+)(?:\*\*| \|) )/gm)].map(
    ([, section, promise]) => `${page} ${section ?? promise}`,
  );
}

test('every promise and every requirement that the code cites is on its page', () => {
  const citations = cited(
    /\b(behaviour|protocol) (\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)/g,
    ([, page, numbers = '']) => numbers.split(/, | and | to /).map((number) => `${page} ${number}`),
  );
  assert.deepEqual(missing(citations, new Set([...numbersOf('behaviour'), ...numbersOf('protocol')])), []);
  assert.ok(citations.length > 120, `only ${citations.length} citations were found`);
});

test('the promises and requirements of a page are in the order of their numbers, each once, in their section', () => {
  for (const page of ['behaviour', 'protocol']) {
    const numbers = numbersOf(page).map((number) => number.split(' ')[1]?.split('.').map(Number) ?? []);
    const sorted = [...numbers].sort(([one = 0, part = -1], [other = 0, piece = -1]) => one - other || part - piece);
    assert.deepEqual(numbers, sorted, page);
    assert.equal(new Set(numbers.map(String)).size, numbers.length, page);
  }
});

test('every row of a specification and of the fidelity page that the code cites exists', () => {
  const pages = ['docs/develop/behaviour.md', 'docs/operate/webhooks.md', 'docs/simulate/fidelity.md'];
  const rows = pages.flatMap((page) =>
    [...text(page).matchAll(/^\| ([A-Z]{1,2}-T?\d+) \|/gm)].map(([, id = '']) => id),
  );
  const citations = cited(/(?<![\w-])(?:(?:CE|JS|[AFHKSW])-\d+|A-T\d+)(?![\w-])/g, ([id]) => [id]);
  assert.deepEqual(missing(citations, new Set(rows)), []);
  assert.ok(citations.length > 250, `only ${citations.length} citations were found`);
});

test('no comment and no title cites a page that is not in the repository', () => {
  const strange = cited(/\b(?:contract|reference)(?:['’]s)?,? (?:sections? )?\d[\d.]*/gi, ([found]) => [found]);
  assert.deepEqual(strange, []);
});

test('every file that a page for developers names exists', () => {
  const pages = ['CONTRIBUTING.md', ...globSync('docs/develop/*.md', { cwd: ROOT })];
  const named = pages.flatMap((page) =>
    [...text(page).matchAll(/`((?:src|adapters|test|docs)\/[\w./-]*\w(?:\/|\.\w+))`/g)].map(([, path = '']) => ({
      path: page,
      what: path,
    })),
  );
  assert.deepEqual(
    named.filter(({ what }) => !what.startsWith(GUIDES_OWN) && !existsSync(join(ROOT, what))),
    [],
  );
  assert.ok(named.length > 50, `only ${named.length} names were found`);
});
