// docs/approve/cases/hold-with-deadline.md → its blocks, typed into terminals as they stand.
import { test } from 'node:test';
import { PlayedPage } from './played-page.ts';

test('docs/approve/cases/hold-with-deadline.md: a hold outlasts the deadline and its release posts, and what is printed is what the page shows', async (t) => {
  const page = await PlayedPage.open(t, 'docs/approve/cases/hold-with-deadline.md');
  const { bridge, shell } = await page.withBridge();
  const answered = async () => page.answers(await page.types(shell));
  const printed = async () => page.prints(await page.types(shell));

  await page.types(shell);
  await page.shows(bridge);
  for (let answer = 0; answer < 3; answer++) await answered();
  await page.shows(bridge);
  await page.types(shell);
  await page.shows(bridge);
  await page.comesToAnswer(shell);
  await printed();
  await printed();
  await page.shows(bridge);
  await answered();

  // Whoever holds has gone home.
  await page.types(shell);
  await page.shows(bridge);
  await answered();
  await printed();

  // The deadline is past already.
  await page.types(shell);
  await page.shows(bridge);
  await answered();

  // The hold comes too late.
  await page.types(shell);
  await page.shows(bridge);
  await answered();
  await answered();
  await page.shows(bridge);
  await answered();

  await printed();
  page.isThrough();
});
