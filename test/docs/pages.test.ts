// Each page whose fences have words → played to its end, with each kind of far side.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, test } from 'node:test';
import { type CodeBlock, codeBlocksOf } from './markdown-page.ts';
import { NEEDS } from './page-needs.ts';
import { ACTIONS, actionOf, DETAILS, PlayedPage } from './played-page.ts';

/** A fence in another language is a file, and the page says what becomes of it. */
const SPOKEN = ['sh', 'text', 'json'];

const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: join(import.meta.dirname, '../..') })
  .map((path) => path.replaceAll(sep, '/'))
  .sort()
  .map((path) => ({ path, fences: codeBlocksOf(path).filter(({ language }) => SPOKEN.includes(language)) }))
  .filter(({ fences }) => fences.some(({ words }) => words.size > 0));

for (const { path, fences } of pages) {
  test(`each fence of ${path} in ${SPOKEN.join(', ')} says if it is played, in known words`, () => {
    for (const fence of fences) {
      actionOf(fence);
      const known: readonly string[] = [...ACTIONS, ...DETAILS];
      assert.deepEqual(
        [...fence.words.keys()].filter((word) => !known.includes(word)),
        [],
        fence.text,
      );
    }
  });
}

// Most of the time, they wait for a poll a second later.
describe('the output of each page is what the page shows', { concurrency: 4 }, () => {
  for (const { path, fences } of pages) {
    for (const variant of variantsOf(fences)) {
      const played = wayOf(fences, variant);
      const needs = needsOf(played);
      const skip = needs.map(({ isMissing }) => isMissing).find((reason) => reason !== false) ?? false;
      test(variant === undefined ? path : `${path} with ${variant}`, { skip }, async (t) => {
        const page = new PlayedPage(t);
        for (const { provide } of needs) await provide(page, t);
        await page.play(played);
      });
    }
  }
});

/** The values of `with`, each of which is another way through the page; otherwise there is one way. */
function variantsOf(fences: readonly CodeBlock[]): readonly (string | undefined)[] {
  const named = new Set(fences.flatMap(({ words }) => words.get('with') ?? []));
  return named.size > 0 ? [...named] : [undefined];
}

/** The fences of one way: in place of those of the first way, in turn, stand its own. */
function wayOf(fences: readonly CodeBlock[], variant: string | undefined): readonly CodeBlock[] {
  const [first] = variantsOf(fences);
  const own = fences.filter(({ words }) => words.has('with') && words.get('with') === variant);
  return fences.flatMap((fence) => {
    if (!fence.words.has('with')) return [fence];
    return fence.words.get('with') === first ? (own.shift() ?? []) : [];
  });
}

function needsOf(fences: readonly CodeBlock[]) {
  const names = new Set(fences.flatMap(({ words }) => [words.get('needs') ?? [], words.get('with') ?? []].flat()));
  return [...names].map((name) => NEEDS[name] ?? assert.fail(`no far side is called ${name}`));
}
