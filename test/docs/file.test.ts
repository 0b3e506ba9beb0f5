// docs/operate/file.md → its first try, typed as it stands, with a simulator and a bridge.
import { test } from 'node:test';
import { PlayedPage } from './played-page.ts';

test('docs/operate/file.md, "Try it": a whole maintenance is in the file, found by its event id', async (t) => {
  const page = await PlayedPage.open(t, 'docs/operate/file.md');
  page.passes('yaml');
  await page.starts().lines(1);
  const bridge = page.starts();
  await page.shows(bridge);
  const shell = page.terminal();
  await page.comesToPrint(shell);
  page.prints(await page.types(shell));
});
