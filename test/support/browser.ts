// Chromium, where there is one → pages for tests, which fail for errors and ways out of loopback.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];
const EXECUTABLE = [process.env['CHROMIUM'], ...USUAL_PATHS].find((path) => path && existsSync(path));

/** For the `skip` of a test: false, or the reason. With REQUIRE_CHROMIUM such a test fails instead. */
export const withoutBrowser: string | false =
  !EXECUTABLE &&
  !process.env['REQUIRE_CHROMIUM'] &&
  'there is no Chromium: install the package chromium, or name the program in CHROMIUM';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Promise<Browser> | undefined;

/** After all pages. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/** One browser for all, with a fresh profile for each page; `closeBrowser` ends it. */
export async function openPage(t: TestContext, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const complaints: string[] = [];
  const page = await openUnwatchedPage(url, options, (page) => {
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('dialog', (dialog) => complaints.push(`a dialog of the browser: ${dialog.message()}`));
    page.on('request', (request) => {
      if (new URL(request.url()).hostname !== '127.0.0.1') complaints.push(`a request to ${request.url()}`);
    });
  });
  t.after(async () => {
    await page.context().close();
    assert.deepEqual(complaints, []);
  });
  return page;
}

/** For tests in which requests must fail, of which a browser's console complains. @param watch before the page loads */
export async function openUnwatchedPage(
  url: string,
  options: BrowserContextOptions = {},
  watch: (page: Page) => void = () => {},
): Promise<Page> {
  if (!EXECUTABLE) throw new Error(`there is no Chromium at ${USUAL_PATHS.join(', ')}`);
  browser ??= chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
  const context = await (await browser).newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  watch(page);
  await page.goto(url);
  return page;
}
