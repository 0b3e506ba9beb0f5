// docs/operate/otlp.md → its first try, typed as it stands, with the Collector.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COLLECTOR, withoutCollector } from '../far-sides/otlp/collector.ts';
import { folderOf } from '../support/folder.ts';
import { PlayedPage } from './played-page.ts';

test('docs/operate/otlp.md, "Try it": a whole maintenance is in the Collector, found by its event id', {
  skip: withoutCollector,
}, async (t) => {
  const folder = folderOf(t);
  symlinkSync(COLLECTOR, join(folder, 'otelcol'));
  const page = await PlayedPage.open(t, 'docs/operate/otlp.md', folder);
  page.means('127.0.0.1:4318', page.here('127.0.0.1:8083'));
  page.passes('yaml');
  page.starts();
  await page.starts().lines(1);
  const bridge = page.starts();
  await page.shows(bridge);
  const shell = page.terminal();
  await page.comesToPrint(shell);
  page.prints(await page.types(shell));
});
