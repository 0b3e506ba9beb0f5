// docs/approve/cases/two-teams.md → its blocks, typed into terminals as they stand.
import { test } from 'node:test';
import { PlayedPage } from './played-page.ts';

test('docs/approve/cases/two-teams.md: both have to say yes, to what the event is now, and what is printed is what the page shows', async (t) => {
  const page = await PlayedPage.open(t, 'docs/approve/cases/two-teams.md');
  const { bridge, shell } = await page.withBridge();
  const answered = async () => page.answers(await page.types(shell));

  await page.types(shell);
  await page.shows(bridge);
  await answered();
  await page.shows(bridge);
  await answered();
  await page.shows(bridge);
  await answered();
  await answered();

  // The event gets worse.
  await page.types(shell);
  await page.shows(bridge);
  await answered();
  await page.shows(bridge);
  for (let answer = 0; answer < 3; answer++) await answered();
  await page.shows(bridge);

  // One team is not ready.
  await page.types(shell);
  await page.shows(bridge);
  await answered();
  await page.shows(bridge);
  await answered();
  await answered();

  // Somebody else says yes.
  await page.types(shell);
  await page.shows(bridge);
  await answered();
  await answered();

  page.prints(await page.types(shell));
  page.isThrough();
});
