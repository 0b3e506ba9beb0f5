// The simulator's page in a browser → its machines, time line and events, by keyboard and pointer.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import test, { after } from 'node:test';
import { closeBrowser, openUnwatchedPage } from '../../support/browser.ts';
import {
  announces,
  eventNamed,
  focused,
  inBrowser,
  open,
  schedule,
  send,
  shows,
  startStanding,
} from './simulator-page.ts';

after(closeBrowser);

test('every file of the page has a charset and a strict policy for scripts, caching and content types', async (t) => {
  const server = await startStanding(t);
  const names = (folder: string) => readdirSync(new URL(`../../../src/${folder}/`, import.meta.url));
  const own = names('simulator/page').map((name) => (name === 'index.html' ? '/' : `/${name}`));
  const paths = [...own, ...names('page/parts').map((name) => `/parts/${name}`)];
  for (const path of paths) {
    const { status, headers } = await fetch(server.url + path);
    assert.equal(status, 200, path);
    assert.match(headers.get('content-type') ?? '', /; charset=utf-8$/, path);
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
      path,
    );
    assert.deepEqual(
      [headers.get('x-content-type-options'), headers.get('cache-control')],
      ['nosniff', 'no-store'],
      path,
    );
  }
});

test('no other file can be read through the page', async (t) => {
  const { url } = await startStanding(t);
  for (const path of ['/index.html', '/../server.ts', '/..%2fserver.ts', '/page/page.js', '//page.js', '/PAGE.JS']) {
    // `fetch` would resolve the path first.
    const [response] = (await once(get(url, { path }), 'response')) as [IncomingMessage];
    response.resume();
    assert.equal(response.statusCode, 404, path);
  }
});

test('each machine has a lane with its name, address and fault domain', inBrowser, async (t) => {
  const { server, page } = await open(t, { vms: ['web_0', 'web_1'] });
  const lanes = page.locator('#lanes > li');
  assert.equal(await lanes.count(), 2);
  for (const [index, { vm, url }] of server.urls.entries()) {
    const lane = lanes.nth(index);
    assert.equal(await lane.getByRole('heading').innerText(), vm);
    assert.equal(await lane.getByRole('link').getAttribute('href'), url);
    assert.match(await lane.innerText(), new RegExp(`FD ${index}`));
  }
  await shows(page, '2 machines · incarnation 1 · ×1 · service on');
});

test('an event can be scheduled with the keyboard alone', inBrowser, async (t) => {
  const { page } = await open(t, { vms: ['web_0', 'web_1'] });
  await page.getByLabel('Type').focus();
  await page.keyboard.type('Reb');
  await page.keyboard.press('Tab');
  await page.keyboard.type('U');
  await page.keyboard.press('Tab');
  await page.keyboard.type('20m');
  await page.keyboard.press('Tab');
  await page.keyboard.type('30');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Schedule');
  await page.keyboard.press('Enter');
  await announces(page, 'Reboot of web_1 scheduled');
  const event = await eventNamed(page, 'Reboot of web_1').innerText();
  assert.match(event, /Scheduled/);
  assert.match(event, /NotBefore 14:20:00, in 20 min/);
  assert.match(event, /User · 30 s of impact/);
  assert.equal(await focused(page), 'Schedule');
});

test('an event can be started at once, for a given time', inBrowser, async (t) => {
  const { page } = await open(t);
  await page.getByLabel('Started at once').check();
  await page.locator('#schedule summary').click();
  await page.getByLabel('Started for').fill('2m');
  await page.getByRole('button', { name: 'Schedule' }).click();
  await announces(page, 'Freeze of sim_0 started without notice');
  assert.match(await eventNamed(page, 'Freeze of sim_0').innerText(), /Ends 14:02:00, in 2 min/);
});

test('an event is started and ended with its buttons, and keeps the focus', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, { EventType: 'Redeploy' });
  const event = eventNamed(page, 'Redeploy of sim_0');
  assert.equal(await event.getByRole('button', { name: 'End' }).count(), 0);
  await event.getByRole('button', { name: 'Start Redeploy of sim_0' }).press('Enter');
  await announces(page, 'Redeploy of sim_0 started');
  assert.match(await focused(page), /Redeploy of sim_0/);
  assert.equal(await event.getByRole('button').count(), 1);
  await event.getByRole('button', { name: 'End Redeploy of sim_0' }).press('Enter');
  await announces(page, 'Redeploy of sim_0 completed');
  assert.equal(await focused(page), 'Events');
  await page.getByText('Ended events (1)').click();
  await shows(page, '✓ Redeploy of sim_0: completed 14:00:00');
});

test('an event is cancelled with its button', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, { EventType: 'Preempt' });
  await page.getByRole('button', { name: 'Cancel Preempt of sim_0' }).click();
  await announces(page, 'Preempt of sim_0 canceled');
  await page.getByText('Ended events (1)').click();
  await shows(page, '✕ Preempt of sim_0: canceled 14:00:00');
  await page.getByRole('img', { name: 'Preempt of sim_0, canceled.' }).waitFor();
});

test('advancing the clock starts an event at its NotBefore, and ends it', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, {});
  await page.getByRole('img', { name: 'Freeze of sim_0, Scheduled. NotBefore 14:15:00, in 15 min' }).waitFor();
  await page.getByRole('button', { name: '+15 min' }).click();
  await announces(page, 'Freeze of sim_0 started');
  await shows(page, '2026-11-21 14:15:00');
  await page.getByRole('img', { name: 'Freeze of sim_0, Started. Ends 14:25:00, in 10 min' }).waitFor();
  await page.getByRole('button', { name: '+15 min' }).click();
  await announces(page, 'Freeze of sim_0 completed');
  await shows(page, 'No events.');
});

test(
  'an event is in the lane of each of its machines, or in the lane of other machines if it names none of the group',
  inBrowser,
  async (t) => {
    const { server, page } = await open(t, { vms: ['web_0', 'web_1', 'web_2'] });
    await schedule(server, { EventType: 'Reboot', Resources: ['WEB_0', 'web_2'] });
    await schedule(server, { EventType: 'Freeze', Resources: ['elsewhere'] });
    const lane = (name: string) => page.locator('#lanes > li').filter({ has: page.getByRole('heading', { name }) });
    await lane('web_0').getByRole('img', { name: 'Reboot of WEB_0, web_2' }).waitFor();
    await lane('web_2').getByRole('img', { name: 'Reboot of WEB_0, web_2' }).waitFor();
    await lane('other machines').getByRole('img', { name: 'Freeze of elsewhere' }).waitFor();
    assert.equal(await lane('web_1').getByRole('img').count(), 0);
  },
);

test('the span fits all events, days ahead too, unless another is selected', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, { EventType: 'Redeploy', notice: '7d' });
  await page.locator('#axis').getByText('11-24').waitFor();
  await page.getByLabel('Span').selectOption('30 min');
  await page.locator('#axis').getByText('14:10').waitFor();
  const [bar, track] = [await page.locator('.bar').boundingBox(), await page.locator('.track').boundingBox()];
  assert.ok(bar && track && Math.abs(bar.x + bar.width - (track.x + track.width)) < 1, 'the bar ends with the window');
});

test('an event is approved through the metadata route, as by a client', inBrowser, async (t) => {
  const { server, page } = await open(t);
  const id = await schedule(server, { EventType: 'Reboot' });
  await page.getByRole('button', { name: 'Approve as a client Reboot of sim_0' }).click();
  await announces(page, 'Reboot of sim_0 started');
  const [request] = server.group.journal.requests();
  assert.deepEqual(
    [request?.method, request?.headers['metadata'], request?.status, request?.body],
    ['POST', 'true', 200, JSON.stringify({ StartRequests: [{ EventId: id }] })],
  );
  await page
    .getByRole('row', { name: /14:00:00 sim_0 POST \/metadata\/scheduledevents\?api-version=2020-07-01 200/ })
    .waitFor();
});

test('an approved event that waits for other tenants says so, and cannot be approved again', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, { EventType: 'Reboot', otherTenants: '5m' });
  const event = eventNamed(page, 'Reboot of sim_0');
  await event.getByText('NotBefore 14:15:00, in 15 min; waits for other tenants until 14:20:00, in 20 min').waitFor();
  await event.getByRole('button', { name: 'Approve' }).click();
  await event.getByText('Approved; waits for other tenants until 14:05:00, in 5 min').waitFor();
  assert.equal(await event.getByRole('button', { name: 'Approve' }).count(), 0);
  await event.getByRole('button', { name: 'Start' }).waitFor();
});

test('NotBefore can be moved by five minutes, set to a time, or removed', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, {});
  await page.getByRole('button', { name: 'NotBefore +5 min' }).click();
  await announces(page, 'Freeze of sim_0 moved');
  await shows(page, /NotBefore 14:20:00/);
  const move = async (time: string) => {
    await page.getByRole('button', { name: 'Move…' }).press('Enter');
    await page.getByRole('dialog', { name: 'Move NotBefore' }).getByLabel('NotBefore, UTC').fill(time);
    await page.getByRole('button', { name: 'Move', exact: true }).press('Enter');
  };
  await move('2026-11-22T03:30:00');
  await shows(page, /NotBefore 2026-11-22 03:30:00, in 13 h 30 min/);
  assert.match(await focused(page), /^Move…/);
  await move('');
  await shows(page, 'No NotBefore; does not start by itself');
});

test(
  'an event listed by the wall clock is shown, and moved by five minutes, in simulated time',
  inBrowser,
  async (t) => {
    const { server, page } = await open(t);
    await send(server, 'PUT', '/simulator/clock', { advance: '1h', notBefore: 'wall' });
    await schedule(server, {});
    await shows(page, /NotBefore 15:15:00, in 15 min(?!;)/);
    await send(server, 'PUT', '/simulator/clock', { advance: '5m' });
    await shows(page, /NotBefore 15:15:00, in 10 min/);
    await page.getByRole('button', { name: 'NotBefore +5 min' }).click();
    await shows(page, /NotBefore 15:20:00, in 15 min(?!;)/);
  },
);

test('an order that has become impossible shows the refusal and changes nothing', inBrowser, async (t) => {
  const server = await startStanding(t);
  const id = await schedule(server, { EventType: 'Reboot' });
  const page = await openUnwatchedPage(server.url);
  t.after(() => page.context().close());
  const before = await send(server, 'GET', '/simulator');
  await eventNamed(page, 'Reboot of sim_0').waitFor();
  await page.route(/\/simulator$/, (route) => route.fulfill({ json: before }));
  await send(server, 'POST', `/simulator/events/${id}/cancel`);
  await page.getByRole('button', { name: 'Start Reboot of sim_0' }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: /is over and cannot .* \(409\)/ })
    .waitFor();
  await page.unroute(/\/simulator$/);
  await announces(page, 'Reboot of sim_0 canceled');
  await page.getByRole('textbox', { name: 'Notice', exact: true }).fill('soon');
  await page.getByRole('button', { name: 'Schedule' }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: /notice: .* \(400\)/ })
    .waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Notice', exact: true }).inputValue(), 'soon');
  await page.getByRole('textbox', { name: 'Notice', exact: true }).fill('20m');
  await page.getByRole('button', { name: 'Schedule' }).click();
  await announces(page, 'Freeze of sim_0 scheduled');
  assert.equal(await page.getByRole('alert').innerText(), '');
});
