// docs/operate/elasticsearch.md → its walk, typed into terminals, on the real OpenSearch.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noOpenSearch, OpenSearch } from '../far-sides/opensearch/opensearch.ts';
import { folderOf } from '../support/folder.ts';
import { PlayedPage } from './played-page.ts';

test('docs/operate/elasticsearch.md leads from an empty cluster to a maintenance that is found by its event id', {
  skip: noOpenSearch(),
}, async (t) => {
  const node = await OpenSearch.start();
  t.after(() => node[Symbol.asyncDispose]());
  const folder = folderOf(t);
  symlinkSync(join(import.meta.dirname, '../../deploy'), join(folder, 'deploy'));
  const page = await PlayedPage.open(t, 'docs/operate/elasticsearch.md', folder);
  page.means('127.0.0.1:9200', new URL(node.url).host);
  await page.shows(page.starts());
  const shell = page.terminal();
  page.answers(await page.types(shell));
  page.prints(await page.types(shell));
  page.starts();
  await page.types(shell);
  await page.comesToAnswer(shell);
  page.passes('yaml');
  page.isThrough();
});
