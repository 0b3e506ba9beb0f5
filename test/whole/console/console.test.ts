// The console in a browser → a maintenance followed, approved and seen through (behaviour 11.22).
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startSimulator } from '../../../src/simulator.ts';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { closeBrowser, withoutBrowser } from '../../support/browser.ts';
import { poll } from '../../support/poll.ts';
import { hook } from '../../support/running-bridge.ts';
import {
  consoleOn,
  eventNamed,
  openConsole,
  SECTIONS,
  shows,
  signIn,
  startConsole,
  TOKENS,
  tells,
} from './console-bridge.ts';

after(closeBrowser);

const inBrowser = { skip: withoutBrowser };

test('a maintenance is followed, approved and seen through from the page alone', inBrowser, async (t) => {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver[Symbol.asyncDispose]());
  const { azure, url } = await startConsole(t, { sinks: { hooks: hook(receiver.url) } }, { vms: ['web_0', 'web_1'] });
  const page = await openConsole(t, url, TOKENS.orders);
  await shows(page, 'None is listed');
  const { EventId } = azure.schedule({ EventType: 'Reboot', Resources: ['web_0', 'web_1'] });
  await tells(page, 'Reboot of web_0, web_1 scheduled');
  const event = eventNamed(page, 'Reboot of web_0, web_1');
  await event.getByText(/^NotBefore (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC.*, in 1\d min/).waitFor();
  await event.getByRole('button', { name: /^Approve/ }).click();
  const dialog = page.getByRole('dialog', { name: /^Approve Reboot/ });
  await dialog.getByText('It reaches 2 machines').waitFor();
  assert.equal(await page.locator(':focus').innerText(), 'Cancel', 'one blind press of Enter approves nothing');
  await dialog.getByRole('button', { name: /^Approve/ }).click();
  await tells(page, /Reboot of web_0, web_1/);
  await eventNamed(page, 'Reboot of web_0, web_1').getByText('Started;').waitFor();
  assert.equal(await event.getByRole('button', { name: /^Approve/ }).count(), 0);
  await event.getByText('Story').click();
  for (const line of [
    'Seen: Scheduled by web_0',
    'orders: approved',
    'Azure accepted the approval',
    'hooks: delivered',
  ])
    await event.getByText(line).first().waitFor();
  azure.end(EventId);
  await shows(page, 'Ended events (1)');
  assert.deepEqual(
    azure
      .requests()
      .filter(({ method }) => method === 'POST')
      .map(({ status }) => status),
    [200],
  );
});

test(
  'an event that got worse is not approved: the page says what has changed, and shows it as it is now',
  inBrowser,
  async (t) => {
    const { azure, url } = await startConsole(t, {}, { vms: ['web_0', 'web_1'] });
    const { EventId } = azure.schedule({ EventType: 'Reboot', Resources: ['web_0'] });
    const page = await openConsole(t, url, TOKENS.orders);
    await eventNamed(page, 'Reboot of web_0')
      .getByRole('button', { name: /^Approve/ })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It reaches 1 machine').waitFor();
    azure.change(EventId, { Resources: ['web_0', 'web_1'] });
    await dialog.getByText('has changed since this was opened').waitFor();
    const confirm = dialog.getByRole('button', { name: /^Approve/ });
    await confirm.click();
    await dialog.getByText('machines that were not there: web_1').waitFor();
    await dialog.getByText('It reaches 2 machines').waitFor();
    assert.deepEqual(azure.approvals(), []);
    await confirm.click();
    // What the page says of it gives way to what the stream says next.
    await poll(() => azure.approvals().length === 1, 'the approval');
  },
);

test(
  'if two admins act at once, the second gets a message, and each page shows the hold of the other',
  inBrowser,
  async (t) => {
    const { azure, url } = await startConsole(t);
    azure.schedule({ EventType: 'Reboot' });
    const [one, other] = [await openConsole(t, url, TOKENS.orders), await openConsole(t, url, TOKENS.billing)];
    const event = (page: typeof one) => eventNamed(page, 'Reboot of');
    await event(one).getByRole('button', { name: /^Hold/ }).click();
    await one.getByRole('dialog').getByLabel('Reason').fill('month end');
    await one
      .getByRole('dialog')
      .getByRole('button', { name: /^Confirm/ })
      .click();
    await event(other).getByText('Held by orders: month end').waitFor();
    await event(one)
      .getByRole('button', { name: /^Release/ })
      .click();
    await one
      .getByRole('dialog')
      .getByRole('button', { name: /^Confirm/ })
      .click();
    await event(other).getByText('Held by').waitFor({ state: 'detached' });
    for (const page of [one, other]) {
      await event(page)
        .getByRole('button', { name: /^Approve/ })
        .click();
      await page.getByRole('dialog').getByText('It reaches 1 machine').waitFor();
    }
    await one
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await poll(() => azure.approvals().length === 1, 'the approval');
    await other
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await other.getByRole('alert').filter({ hasText: '(409)' }).waitFor();
    assert.equal(azure.approvals().length, 1);
  },
);

test(
  'a broken sink is found, mended and its dead letter retried from the page; a faulty file shows its faults',
  inBrowser,
  async (t) => {
    const [broken, good] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
    t.after(() => Promise.all([broken[Symbol.asyncDispose](), good[Symbol.asyncDispose]()]));
    broken.default = { status: 400 };
    const { azure, url, write } = await startConsole(t, { sinks: { hooks: hook(broken.url) } });
    const page = await openConsole(t, url, TOKENS.orders);
    azure.schedule({ EventType: 'Reboot' });
    const sink = page.locator('#sink-list > li');
    await sink.getByText('BRIDGE_SINK_REFUSED').waitFor();
    await sink.getByText('1 dead').waitFor();
    const reload = async () => {
      await page.getByRole('button', { name: 'Read it again…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Confirm reload' }).click();
    };
    write({ sinks: { hooks: { ...hook(good.url), type: 'webhok' } } });
    await reload();
    await page.getByRole('dialog').getByText('sinks.hooks.type: is not a type of sink').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.locator('#faults').getByText('sinks.hooks.type: ').waitFor();
    write({ sinks: { hooks: hook(good.url) } });
    await reload();
    await tells(page, 'sinks.hooks.url');
    await page.locator('#faults').getByText('sinks.hooks.type: ').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Retry all… 1 × hooks: refused (400)' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm retry' }).click();
    await tells(page, 'queued again');
    await shows(page, 'There are none: nothing was given up.');
    assert.equal(good.requests.length, 1);
    await page.getByRole('button', { name: 'Pause… hooks' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm pause' }).click();
    await sink.getByText('paused', { exact: true }).waitFor();
  },
);

test(
  'without a token it shows all and acting asks for one; a wrong one is refused, a reader may only look',
  inBrowser,
  async (t) => {
    const { azure, url } = await startConsole(t);
    azure.schedule({ EventType: 'Reboot' });
    const page = await openConsole(t, url);
    await eventNamed(page, 'Reboot of')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await page.getByRole('alert').filter({ hasText: 'Sign in first' }).waitFor();
    assert.equal(await page.evaluate('document.activeElement.id'), 'token');
    await page.keyboard.type('nobody-has-this-token');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: '(401)' }).waitFor();
    await signIn(page, TOKENS.grafana);
    const approve = eventNamed(page, 'Reboot of').getByRole('button', { name: /^Approve/ });
    await page.locator('#event-list button:disabled').first().waitFor();
    assert.equal(await approve.getAttribute('title'), 'grafana is a reader, who may look and not act.');
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    assert.equal(new URL(page.url()).search, '');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length + localStorage.length + document.cookie.length'), 0);
  },
);

test(
  'a bridge that went away is missed; after its start the page is live again and has what it missed',
  inBrowser,
  async (t) => {
    const { azure, url, program, restart } = await startConsole(t);
    const page = await openConsole(t, url, TOKENS.orders);
    await program.end('SIGTERM');
    await shows(page, /^Not live: the bridge does not answer\. What shows is .* old; approvals cannot be sent\./);
    assert.match(await page.title(), /^⚠ /);
    azure.schedule({ EventType: 'Redeploy' });
    await restart();
    await page.getByText('Live', { exact: true }).waitFor();
    await eventNamed(page, 'Redeploy of').waitFor();
  },
);

test(
  'two bridges of a group side by side: each page shows its own, and both follow one maintenance',
  inBrowser,
  async (t) => {
    const azure = await startSimulator({ vms: ['web_0', 'web_1'] });
    t.after(() => azure.close());
    const bridges = await Promise.all(azure.urls.map(({ url }) => consoleOn(t, azure, url)));
    const pages = await Promise.all(bridges.map(({ url }) => openConsole(t, url, TOKENS.orders)));
    azure.schedule({ EventType: 'Reboot', Resources: ['web_0', 'web_1'] });
    const [first, second] = pages;
    for (const [index, page] of pages.entries()) {
      await shows(page, new URL(bridges[index]?.url ?? '').host);
      await eventNamed(page, 'Reboot of web_0, web_1').getByText('Story').click();
      await page.getByText(`Seen: Scheduled by web_${index}`).waitFor();
    }
    await first?.getByRole('button', { name: /^Approve/ }).click();
    await first
      ?.getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click();
    for (const page of pages) await eventNamed(page, 'Reboot of web_0, web_1').getByText('Started;').waitFor();
    await second?.getByText('Nobody has approved').waitFor({ state: 'detached' });
  },
);

test('a drill is begun from the page, and its report names the approver who did not approve', inBrowser, async (t) => {
  const approvals = { ...(SECTIONS['approvals'] as object), required: 'all' };
  const { azure, url } = await startConsole(t, { approvals, sinks: { audit: { type: 'stdout' } } });
  const page = await openConsole(t, url, TOKENS.orders);
  await page.getByRole('button', { name: 'Start a drill…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Notice').fill('5s');
  await dialog.getByLabel('Duration').fill('1s');
  await dialog.getByRole('button', { name: 'Confirm drill' }).click();
  await tells(page, /A drill has started/);
  const event = eventNamed(page, 'Reboot of');
  await event.getByRole('button', { name: /^Approve/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Approve/ })
    .click();
  const report = page.locator('#drill-list > li');
  await report.getByText(/^Approved: orders after/).waitFor();
  await report.getByText('Did not approve: billing').waitFor();
  await report.getByRole('heading', { name: /: ended$/ }).waitFor();
  for (const change of ['scheduled', 'approval.recorded', 'started', 'ended'])
    await report.getByText(new RegExp(`\\d ${change.replace('.', '\\.')}$`)).waitFor();
  await report
    .getByText(/^audit: accepted within \d+ ms$/)
    .first()
    .waitFor();
  assert.deepEqual(azure.approvals(), []);
});
