// The simulator's page in a browser → orders for clock, faults and scenarios; the list of requests.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { closeBrowser } from '../../support/browser.ts';
import { announces, eventNamed, focused, inBrowser, open, START_MS, schedule, shows } from './simulator-page.ts';

after(closeBrowser);

test('the buttons set the speed and show the current one', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await page.getByRole('button', { name: '×60' }).click();
  await page.getByRole('button', { name: '×60', pressed: true }).waitFor();
  assert.equal(server.group.clock.speed, 60);
  await page.getByRole('button', { name: '×0, stopped' }).click();
  await page.getByRole('button', { name: '×0, stopped', pressed: true }).waitFor();
  assert.equal(server.group.clock.speed, 0);
});

test(
  'a common fault is ordered with one click, shown with its remaining answers, and cleared',
  inBrowser,
  async (t) => {
    const { server, page } = await open(t);
    await shows(page, 'No fault is active.');
    await page.getByRole('button', { name: '503 × 5' }).click();
    await shows(page, 'The next 5 answers: status 503');
    assert.equal((await fetch(`${server.url}/metadata/scheduledevents`)).status, 503);
    await shows(page, 'The next 4 answers: status 503');
    await page.getByRole('row', { name: /503$/ }).waitFor();
    await page.getByRole('button', { name: 'Clear fault' }).press('Enter');
    await shows(page, 'No fault is active.');
    assert.equal(await focused(page), 'No fault is active.');
  },
);

/** The common faults and what the page shows of each; `503 × 5` has a test of its own. */
const COMMON_FAULTS: readonly (readonly [button: string, shown: RegExp])[] = [
  ['504 HTML from a proxy', /^The next answer: (?=.*status 504)(?=.*headers .*text\/html)(?=.*body <html>)/],
  ['empty 200', /^The next answer: body empty$/],
  ['reset', /^The next answer: reset$/],
  ['slow 20 s', /^The next answer: delay 20s$/],
];

test('the simulator accepts each of the common faults', inBrowser, async (t) => {
  const { server, page } = await open(t);
  for (const [name, shown] of COMMON_FAULTS) {
    await page.getByRole('group', { name: 'Common faults' }).getByRole('button', { name, exact: true }).click();
    await shows(page, shown);
  }
  assert.deepEqual(server.group.faults.active(START_MS)?.delayMs, 20_000);
});

test('any other fault is ordered with the form', inBrowser, async (t) => {
  const { page } = await open(t, { vms: ['web_0', 'web_1'] });
  await page.getByText('Another fault').click();
  const form = page.locator('#faults');
  await form.getByLabel('Status').fill('429');
  await form.getByLabel('Cut after, bytes').fill('0');
  await form.getByLabel('Times').fill('3');
  await form.getByLabel('Machine').selectOption('web_1');
  await form.getByLabel('Method').selectOption('POST');
  await form.getByLabel('Path').fill('/metadata/instance');
  await form.getByLabel('api-version').fill('2021-02-01');
  await form.getByLabel('Stale document').check();
  await form.getByRole('button', { name: 'Set fault' }).click();
  await shows(
    page,
    /^The next 3 answers to POST at \/metadata\/instance in 2021-02-01 of web_1: (?=.*status 429)(?=.*truncate 0)(?=.*stale)/,
  );
});

test('the page shows the active fault of a list and the number of later ones', inBrowser, async (t) => {
  const { server, page } = await open(t);
  const body = JSON.stringify([{ status: 500 }, { times: 2 }, { body: '' }]);
  await fetch(`${server.url}/simulator/faults`, { method: 'PUT', body });
  await shows(page, 'The next answer: status 500; then 2 more');
  await fetch(`${server.url}/metadata/scheduledevents`);
  await shows(page, 'The next 2 answers: unchanged; then 1 more');
  await page.getByRole('button', { name: 'Clear fault' }).click();
  await shows(page, 'No fault is active.');
});

test('a scenario is selected, shows its purpose, and is started', inBrowser, async (t) => {
  const { page } = await open(t, { vms: ['web_0'] });
  await shows(page, /live migration/);
  await page.getByLabel('Name').selectOption('terminate');
  await shows(page, 'the deletion of a machine with 5 min of notice');
  await page.getByRole('button', { name: 'Start scenario' }).click();
  await shows(page, 'Running: terminate, since 14:00:00.');
  await announces(page, 'Terminate of web_0 scheduled');
});

test('a reset asks first, then removes events and faults', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, {});
  await eventNamed(page, 'Freeze of sim_0').waitFor();
  await page.getByRole('button', { name: 'Reset all…' }).press('Enter');
  await page.getByRole('button', { name: 'Keep' }).click();
  assert.match(await focused(page), /Reset all/);
  assert.equal(server.group.events.entries().length, 1);
  await page.getByRole('button', { name: 'Reset all…' }).press('Enter');
  await page.getByRole('button', { name: 'Reset', exact: true }).click();
  await shows(page, 'No events.');
  assert.equal(server.group.events.entries().length, 0);
});

test('the last 50 requests are shown, newest first', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await shows(page, 'No requests yet.');
  for (let asked = 0; asked < 60; asked++) await fetch(`${server.url}/metadata/instance?n=${asked}`);
  await page.getByRole('row', { name: /n=59 400$/ }).waitFor();
  const rows = page.locator('#request-list tr');
  assert.equal(await rows.count(), 50);
  assert.deepEqual(await rows.first().locator('td').allInnerTexts(), [
    '14:00:00',
    'sim_0',
    'GET /metadata/instance?n=59',
    '400',
  ]);
  assert.match(await rows.last().innerText(), /n=10/);
});
