// docs/receive/examples/ → its index names every page, and every page has all parts and a test.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { codeBlocksOf, tableBelow } from './markdown-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const pages = globSync('docs/receive/examples/*.md', { cwd: ROOT })
  .filter((path) => !path.endsWith('README.md'))
  .sort();
const tests = globSync('test/docs/examples-*.test.ts', { cwd: ROOT }).map((path) =>
  readFileSync(join(ROOT, path), 'utf8'),
);

test('the index names each page once', () => {
  const named = tableBelow('docs/receive/examples/README.md', 'Examples of consumers').map(
    ([first = '']) => /\(([\w-]+\.md)\)/.exec(first)?.[1],
  );
  assert.deepEqual(named.map((page) => `docs/receive/examples/${page}`).sort(), pages);
});

for (const page of pages) {
  test(`${page} is complete, and a test plays it`, () => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    assert.deepEqual(headings, ['The program', 'The bridge', 'Try it', 'What happens', 'What to watch']);
    const name = page.replace(/.*\/(.+)\.md$/, '$1');
    assert.equal(tests.filter((source) => source.includes(`const PAGE = '${name}'`)).length, 1);
    const programs = codeBlocksOf(page).filter(({ language }) => language === 'js');
    assert.ok(programs.every((block) => /^\/\/ [\w-]+\.js\n/.test(block.text)));
    const cases = tableBelow(page, 'What happens').join('\n');
    for (const each of ['called off', 'without notice', 'comes twice', 'kill -9'])
      assert.ok(cases.includes(each), each);
  });
}
