// docs/approve/cases/leader-failover.md → its blocks, typed into terminals as they stand.
import { test } from 'node:test';
import { PlayedPage } from './played-page.ts';

test('docs/approve/cases/leader-failover.md: the next one posts where the leader is dead or hangs, and what is printed is what the page shows', async (t) => {
  const page = await PlayedPage.open(t, 'docs/approve/cases/leader-failover.md');
  page.passes('yaml');
  const simulator = page.starts();
  await page.shows(simulator);
  const bridges = page.starts();
  await page.shows(bridges);
  const shell = page.terminal();

  await page.types(shell);
  await page.comesToAnswer(shell);
  await page.comesToAnswer(shell);
  await page.comesToPrint(shell);

  // The leader is dead.
  await page.types(shell);
  await page.comesToAnswer(shell);
  await page.comesToPrint(shell);
  await page.comesToAnswer(shell);
  await page.comesToPrint(shell);
  await page.comesToPrint(shell);

  // The machine that hangs is the one that is named.
  await page.types(shell);
  for (let look = 0; look < 4; look++) await page.comesToAnswer(shell);
  await page.comesToPrint(shell);

  await page.comesToPrint(shell);
  await page.types(shell);
  page.isThrough();
});
