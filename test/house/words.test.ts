// Pages, comments and texts → few of the words that strangers stumble on, and no long sentences.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

/** The most of each, as measured; lower one when there are fewer. */
const CEILINGS = { whereInPages: 11, whereInCode: 7, privateWords: 0, longSentences: 3 };
/** In words. No sentence may be longer than the second. */
const [LONG, LONGEST] = [40, 60];

/** Nearly always "if", "when" or "for". SQL's WHERE is in capitals. */
const WHERE = /\b[Ww]here\b/;
/** Turns of phrase that are nobody's but ours. */
const PRIVATE =
  /\b(?:anew|besides?|bear the name|by then|for ever|for want of|in the place of|overheard|see to it|what became of|who(?:m)?ever)\b/i;

interface Found {
  readonly path: string;
  readonly text: string;
}

function filesOf(patterns: readonly string[], left: RegExp): readonly Found[] {
  const paths = globSync([...patterns], { cwd: ROOT, exclude: (path) => path.includes('node_modules') });
  return paths
    .filter((path) => !left.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

const pages = filesOf(['*.md', '{adapters,deploy,docs}/**/*.md'], /^CHANGELOG/);
const code = filesOf(['{adapters,src}/**/*.ts'], /\.d\.ts$/);

/** Without code and links; a list item or a cell of a table ends a sentence, too. */
const sentences = pages.flatMap(({ path, text }) =>
  text
    .replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1/gm, '')
    .replaceAll(/`[^`\n]*`/g, 'CODE')
    .replaceAll(/\]\([^)\n]*\)/g, ']')
    .replaceAll(/^ *(?:[-*+]|\d+\.|#+|>) /gm, '\n\n')
    .replaceAll('|', '\n\n')
    .split(/\n\s*\n/)
    .flatMap((block) =>
      block
        .replaceAll(/\s+/g, ' ')
        .trim()
        .split(/(?<=[.!?]) (?=[A-Z"'*[])/),
    )
    .map((sentence) => ({ path, text: sentence })),
);
const comments = code.flatMap(({ path, text }) =>
  text
    .split('\n')
    .filter((line) => /^ *(?:\/\/|\/\*|\*)/.test(line))
    .map((line) => ({ path, text: line.trim() })),
);
const texts = code.flatMap(({ path, text }) =>
  [...text.matchAll(/'[^'\n]{25,}'|`[^`\n]{25,}`|"[^"\n]{25,}"/g)].map(([literal]) => ({ path, text: literal })),
);

function assertAtMost(most: number, found: readonly Found[]): void {
  const places = found.map(({ path, text }) => `${path}: ${text.slice(0, 160)}`);
  assert.ok(found.length <= most, `${found.length}, and ${most} at most:\n${places.join('\n')}`);
}

function wordsIn(sentence: string): number {
  return sentence.split(' ').filter((word) => /[A-Za-z]/.test(word)).length;
}

test('pages, comments and texts were found', () => {
  assert.ok(pages.length > 80 && sentences.length > 8000, `${sentences.length} sentences on ${pages.length} pages`);
  assert.ok(comments.length > 4000 && texts.length > 2000, `${comments.length} comments, ${texts.length} texts`);
});

test('"where" is for places: conditions begin with "if" or "when"', () => {
  assertAtMost(
    CEILINGS.whereInPages,
    sentences.filter(({ text }) => WHERE.test(text)),
  );
  assertAtMost(
    CEILINGS.whereInCode,
    [...comments, ...texts].filter(({ text }) => WHERE.test(text)),
  );
});

test('pages, comments and texts have few turns of phrase of our own', () => {
  assertAtMost(
    CEILINGS.privateWords,
    [...sentences, ...comments, ...texts].filter(({ text }) => PRIVATE.test(text)),
  );
});

test(`few sentences of pages have more than ${LONG} words, and none more than ${LONGEST}`, () => {
  assertAtMost(
    CEILINGS.longSentences,
    sentences.filter(({ text }) => wordsIn(text) > LONG),
  );
  assertAtMost(
    0,
    sentences.filter(({ text }) => wordsIn(text) > LONGEST),
  );
});
