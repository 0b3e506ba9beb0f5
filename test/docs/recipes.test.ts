// docs/operate/recipes/ → its index names every page, and every page has all parts and a test.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { tableBelow } from './markdown-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const pages = globSync('docs/operate/recipes/*.md', { cwd: ROOT })
  .filter((path) => !path.endsWith('README.md'))
  .sort();
const tests = globSync(['test/docs/recipes-*.test.ts', 'test/deploy/systemd-command.test.ts'], { cwd: ROOT }).map(
  (path) => readFileSync(join(ROOT, path), 'utf8'),
);

test('the index of the recipes names each page once', () => {
  const index = tableBelow('docs/operate/recipes/README.md', 'Recipes: prepare, approve, recover');
  const named = index.map(([first = '']) => /\(([\w-]+\.md)\)/.exec(first)?.[1]);
  assert.deepEqual(named.map((page) => `docs/operate/recipes/${page}`).sort(), pages);
});

for (const page of pages) {
  test(`${page} has its parts, and a test runs it unless it says that it was not run`, () => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    for (const each of ['The program', 'The bridge', 'What to watch']) assert.ok(headings.includes(each), each);
    const name = page.replace(/.*\/(.+)\.md$/, '$1');
    const isRun = tests.some((source) => source.includes(`'${name}'`) || source.includes(`recipes/${name}.md`));
    assert.notEqual(isRun, text.includes('**Not run'));
  });
}
