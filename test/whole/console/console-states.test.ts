// The console in 15 states → what an engineer reads in each, and nothing that axe finds fault with.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Page } from 'playwright-core';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { closeBrowser, openUnwatchedPage, withoutBrowser } from '../../support/browser.ts';
import { poll } from '../../support/poll.ts';
import { hook } from '../../support/running-bridge.ts';
import { eventNamed, openConsole, SECTIONS, shows, startConsole, TOKENS, tells } from './console-bridge.ts';
import { assertReadable } from './readable.ts';

after(closeBrowser);

const inBrowser = { skip: withoutBrowser };
const APPROVALS = SECTIONS['approvals'] as object;
const DESK = { viewport: { width: 1280, height: 800 } };

async function inState(page: Page, name: string): Promise<void> {
  await assertReadable(page);
  const folder = process.env['SCREENSHOTS'];
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}

test('before the sign-in nothing shows; without events it says so', inBrowser, async (t) => {
  const { url } = await startConsole(t, {
    http: { ...(SECTIONS['http'] as object), listen: '0.0.0.0:0', allowInsecure: true },
  });
  const page = await openUnwatchedPage(url.replace('0.0.0.0', '127.0.0.1'), DESK);
  t.after(() => page.context().close());
  await shows(page, 'Reading takes a token here.');
  assert.equal(await page.getByRole('navigation').isVisible(), false);
  await inState(page, '01-locked');
  await page.getByLabel('Token').fill(TOKENS.grafana);
  await page.keyboard.press('Enter');
  await shows(page, 'None is listed');
  await inState(page, '02-empty');
});

test(
  'each event says what happens next; a rule that never approves offers no Approve; dry run stands in the confirmation',
  inBrowser,
  async (t) => {
    const policy = [
      { when: { impacts: ['Terminate'] }, then: 'never' },
      { when: { impacts: ['Redeploy'] }, then: 'wait', deadline: { before: '2m', then: 'approve' } },
    ];
    const { azure, url } = await startConsole(
      t,
      { approvals: { ...APPROVALS, policy, dryRun: true } },
      { vms: ['web_0', 'web_1', 'web_2'] },
    );
    azure.schedule({ EventType: 'Terminate', Resources: ['web_2'] });
    azure.schedule({ EventType: 'Redeploy', Resources: ['web_1'], notice: '20m' });
    azure.schedule({ EventType: 'Reboot', Resources: ['web_0'], notice: '25m' });
    azure.start(azure.schedule({ EventType: 'Freeze', Resources: ['web_1'], DurationInSeconds: -1 }).EventId);
    const page = await openConsole(t, url, TOKENS.orders, { ...DESK, timezoneId: 'Europe/Berlin' });
    await eventNamed(page, 'Freeze of web_1').getByText('Started; duration unknown').waitFor();
    const titles = await page.locator('#event-list h3').allInnerTexts();
    assert.deepEqual(
      titles.map((title) => /\w+ of web_\d/.exec(title)?.[0]),
      ['Freeze of web_1', 'Reboot of web_0', 'Terminate of web_2', 'Redeploy of web_1'],
      'what runs first, then this machine, then by time',
    );
    assert.equal(await eventNamed(page, 'Reboot of web_0').getByText('This machine').isVisible(), true);
    const never = eventNamed(page, 'Terminate of web_2');
    await never.getByText(/^Never approved by this bridge \(policy\[0\]\)\. If nobody acts: left to Azure/).waitFor();
    assert.equal(await never.getByRole('button', { name: /^Approve/ }).count(), 0);
    await eventNamed(page, 'Redeploy of web_1')
      .getByText(/If nobody acts: /)
      .waitFor();
    await eventNamed(page, 'Reboot of web_0')
      .getByText(/^If nobody acts: left to Azure, which starts it at .* UTC \(.* local\), in 2\d min/)
      .waitFor();
    await shows(page, /^Dry run: approvals are recorded/);
    await inState(page, '03-next-step');
    await eventNamed(page, 'Reboot of web_0')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await page
      .getByRole('dialog')
      .getByText('Dry run: your approval is recorded, and nothing is sent to Azure.')
      .waitFor();
    await inState(page, '04-dry-run-dialog');
  },
);

test('a hold is told without colour, and released by those alone who may', inBrowser, async (t) => {
  const { azure, url } = await startConsole(t, {}, { vms: ['web_0', 'web_1'] });
  const { EventId } = azure.schedule({ EventType: 'Reboot', Resources: ['web_0'] });
  const page = await openConsole(t, url, TOKENS.billing, DESK);
  const headers = { authorization: `Bearer ${TOKENS.orders}`, 'content-type': 'application/json' };
  await eventNamed(page, 'Reboot of web_0').waitFor();
  const held = await fetch(`${url}/v1/holds`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ EventId, reason: 'month end' }),
  });
  assert.equal(held.status, 201);
  const event = eventNamed(page, 'Reboot of web_0');
  await event.getByText('❚❚ Held by orders: month end').waitFor();
  await event.getByText('❚❚ Held', { exact: true }).waitFor();
  const release = event.getByRole('button', { name: /^Release/ });
  assert.equal(await release.isDisabled(), true);
  assert.match((await release.getAttribute('title')) ?? '', /Only the one who holds it, or an admin/);
  await inState(page, '05-held');
});

test(
  'an admin holds everything from the head of the page, which says so until it is released',
  inBrowser,
  async (t) => {
    const policy = [{ when: {}, then: 'approve' }];
    const { azure, url } = await startConsole(t, { approvals: { ...APPROVALS, policy } }, { vms: ['web_0', 'web_1'] });
    const admin = await openConsole(t, url, TOKENS.orders, DESK);
    const other = await openConsole(t, url, TOKENS.billing, { viewport: { width: 360, height: 740 } });
    const barred = other.getByRole('button', { name: 'Hold everything…' });
    await poll(() => barred.isDisabled(), 'the button out of use');
    assert.match((await barred.getAttribute('title')) ?? '', /this takes an admin/);
    await admin.getByRole('button', { name: 'Hold everything…' }).click();
    const dialog = admin.getByRole('dialog', { name: 'Hold everything?' });
    await inState(admin, '14-hold-everything-dialog');
    await admin.keyboard.type('a release is under way');
    await admin.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await tells(admin, 'Everything is held');
    azure.schedule({ EventType: 'Reboot', Resources: ['web_0'] });
    const words =
      /^❚❚ EVERYTHING IS HELD by orders since \d\d:\d\d:\d\d UTC: a release is under way\. This bridge sends nothing/;
    for (const page of [admin, other]) {
      await page.getByRole('alert').getByText(words).waitFor();
      const event = eventNamed(page, 'Reboot of web_0');
      await event.getByText('❚❚ Everything is held by orders: a release is under way').waitFor();
      assert.equal(await event.getByRole('button', { name: /^Release/ }).count(), 0);
      assert.match(await page.title(), /❚❚/);
    }
    assert.ok((await admin.locator('#all-held').boundingBox())?.y ?? 800 < 200, 'at the top of the page');
    await inState(admin, '15-everything-held');
    await inState(other, '15-everything-held-narrow');
    assert.deepEqual(azure.approvals(), []);
    await admin.getByRole('button', { name: 'Release everything…' }).click();
    assert.equal(await admin.locator(':focus').innerText(), 'Cancel', 'one blind press of Enter releases nothing');
    await admin.getByRole('dialog').getByRole('button', { name: 'Release everything' }).click();
    await tells(admin, 'The hold of everything is released');
    await poll(() => azure.approvals().length === 1, 'the approval');
    await other.locator('#all-held').waitFor({ state: 'hidden' });
  },
);

test(
  '200 events are groups that fold, a filter finds one, and each has an address of its own',
  inBrowser,
  async (t) => {
    const vms = Array.from({ length: 50 }, (_, index) => `web_${index}`);
    const { azure, url } = await startConsole(t, { sinks: { out: { type: 'stdout' } } }, { vms });
    const grouped = azure.schedule({ EventType: 'Redeploy', Resources: ['web_3'] });
    for (let index = 1; index < 200; index++)
      azure.schedule({ EventType: index % 2 ? 'Reboot' : 'Redeploy', Resources: [`web_${1 + (index % 49)}`] });
    const own = azure.schedule({ EventType: 'Freeze', Resources: ['web_0'], notice: '14m' });
    const other = azure.schedule({ EventType: 'Preempt', Resources: ['web_17'], notice: '15m' });
    const page = await openConsole(t, url, TOKENS.orders, DESK);
    await page.getByText(/^○ 100 × Reboot, Scheduled · 49 machines/).waitFor();
    assert.match((await page.locator('#event-list h3').first().innerText()) ?? '', /Freeze of web_0/);
    const height = () => page.evaluate('document.documentElement.scrollHeight') as Promise<number>;
    assert.ok((await height()) < 1600, `${await height()} pixels high`);
    await inState(page, '06-groups');
    await page.getByLabel('Filter').fill('preempt web_17');
    await shows(page, '1 of 202 events match');
    await inState(page, '07-filter');
    const link = eventNamed(page, 'Preempt of web_17').getByRole('link');
    assert.equal(await link.getAttribute('href'), `#/events/${other.EventId}`);
    await page.getByLabel('Filter').fill('');
    await page.goto(`${url}/#/events/${own.EventId.toLowerCase()}`);
    await page.locator('h3:focus').getByText('Freeze of web_0').waitFor();
    await page.goto(`${url}/#/events/${grouped.EventId}`);
    await page.locator('details[open] h3:focus').getByText('Redeploy of').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${url}/#`);
    await page.reload();
    await page.getByText(/^○ 100 × Reboot/).waitFor();
    assert.ok((await height()) < 4000, `${await height()} pixels high at 360 px`);
    await inState(page, '08-narrow');
    await page.getByRole('link', { name: /^Sinks/ }).click();
    await poll(async () => ((await page.locator('#sinks').boundingBox())?.y ?? 740) < 740, 'the sinks on the screen');
  },
);

test('blind, or without an answer, it says how old it is and that approvals cannot be sent', inBrowser, async (t) => {
  const { azure, url, program } = await startConsole(t, {}, { vms: ['web_0'] });
  azure.schedule({ EventType: 'Reboot' });
  const page = await openConsole(t, url, TOKENS.orders, DESK);
  await eventNamed(page, 'Reboot of').waitFor();
  await page.route('**/v1/events', async (route) => {
    const answer = await (await route.fetch()).json();
    const observedAt = new Date(Date.now() - 71_000).toISOString();
    await route.fulfill({ json: { ...answer, state: 'blind', observedAt } });
  });
  await shows(page, /^Blind: .* What shows is 1 min 1\d s old; approvals cannot be sent\./);
  assert.match(await page.title(), /^⚠ \(1\) web_0/);
  await inState(page, '09-blind');
  await page.unrouteAll({ behavior: 'wait' });
  await program.end('SIGKILL');
  await shows(page, /^Not live: the bridge does not answer\. What shows is .* old; approvals cannot be sent\./);
  await page.locator('#sight-state').getByText('not known').waitFor();
  await inState(page, '10-not-live');
});

test(
  'dead letters are groups that are retried with one confirmation; a repaired sink is not red; errors have a page',
  inBrowser,
  async (t) => {
    const [pager, orders] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
    t.after(() => Promise.all([pager[Symbol.asyncDispose](), orders[Symbol.asyncDispose]()]));
    pager.default = { status: 422 };
    orders.default = { status: 503 };
    const sinks = { pager: hook(pager.url), orders: hook(orders.url) };
    const { azure, url } = await startConsole(t, { sinks }, { vms: ['web_0', 'web_1'] });
    for (let index = 0; index < 40; index++) azure.schedule({ EventType: 'Reboot', Resources: [`web_${index % 2}`] });
    const page = await openConsole(t, url, TOKENS.orders, DESK);
    const group = page.locator('.letters').filter({ hasText: '40 × pager: refused (422)' });
    await group.getByText('Reboot of web_0: scheduled; Reboot of web_1: scheduled').waitFor();
    const sink = page.locator('#sink-list > li').filter({ hasText: 'orders' });
    await sink.locator('.bad').waitFor();
    assert.match(
      (await sink.getByRole('link', { name: 'BRIDGE_SINK_UNAVAILABLE' }).getAttribute('href')) ?? '',
      /\/docs\/operate\/errors\.md#:~:text=BRIDGE_SINK_UNAVAILABLE$/,
    );
    await group.getByText('Each of them').click();
    await inState(page, '11-dead-letters');
    pager.default = orders.default = { status: 204 };
    await sink.getByText(/^✓ Over, it accepts again\./).waitFor();
    assert.equal(await sink.locator('.bad').count(), 0);
    await group.getByRole('button', { name: /^Retry all/ }).click();
    await page
      .getByRole('dialog', { name: 'Retry 40 dead letters of pager?' })
      .getByRole('button', { name: 'Confirm retry' })
      .click();
    await tells(page, '40 of pager: queued again');
    await shows(page, 'There are none: nothing was given up.');
    await poll(() => pager.requests.length >= 80, 'all of them again');
  },
);

test(
  'a program that runs shows its time and last line; the drill asks for the sinks that act, and says what was given up',
  inBrowser,
  async (t) => {
    const pager = await WebhookReceiver.start();
    t.after(() => pager[Symbol.asyncDispose]());
    pager.default = { status: 422 };
    const run = ['/bin/sh', '-c', 'cat > /dev/null; echo connections left: 3; exec sleep 60'];
    const { azure, url } = await startConsole(
      t,
      { sinks: { drain: { type: 'command', run }, pager: hook(pager.url) } },
      { vms: ['web_0'] },
    );
    const { EventId } = azure.schedule({ EventType: 'Reboot', Resources: ['web_0'] });
    const page = await openConsole(t, url, TOKENS.orders, DESK);
    await page.getByText(/^▶ Reboot of web_0: running for .*, last: connections left: 3$/).waitFor();
    const event = eventNamed(page, 'Reboot of web_0');
    await event.getByText('Story').click();
    await event.getByText(/^drain: running for .*, last: connections left: 3$/).waitFor();
    await inState(page, '12-running');
    await page.getByRole('button', { name: 'Start a drill…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('drain (command) runs its program.').waitFor();
    await inState(page, '13-drill-dialog');
    const confirm = dialog.getByRole('button', { name: 'Confirm drill' });
    await confirm.click();
    assert.equal(await dialog.isVisible(), true, 'the tick is missing');
    await dialog.getByLabel('I want these sinks to act').check();
    await confirm.click();
    await dialog.getByText('A real event is listed. Start the drill after its end, or tick').waitFor();
    azure.cancel(EventId);
    await dialog.getByLabel('Notice').fill('0s');
    await dialog.getByLabel('Duration').fill('0s');
    await shows(page, 'Ended events (1)');
    await confirm.click();
    await page.locator('#drill-list').getByText('pager: given up after 1 attempt (422)').first().waitFor();
  },
);
