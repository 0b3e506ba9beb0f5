// docs/approve/cases/automatic-policy.md → its blocks, typed into terminals as they stand.
import { test } from 'node:test';
import { PlayedPage } from './played-page.ts';

test('docs/approve/cases/automatic-policy.md: rules approve at once, wait and refuse, and what is printed is what the page shows', async (t) => {
  const page = await PlayedPage.open(t, 'docs/approve/cases/automatic-policy.md');
  const { bridge, shell } = await page.withBridge();

  await page.types(shell);
  await page.shows(bridge);
  page.answers(await page.types(shell));

  await page.types(shell);
  await page.shows(bridge);
  page.answers(await page.types(shell));
  await page.types(shell);
  await page.shows(bridge);

  await page.types(shell);
  await page.shows(bridge);
  page.answers(await page.types(shell));

  await page.types(shell);
  await page.shows(bridge);
  await page.comesToAnswer(shell);
  page.prints(await page.types(shell));
  page.isThrough();
});
