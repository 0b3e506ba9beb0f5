// The console in a browser → usable by all: keyboard, screen readers, small windows, odd text.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { closeBrowser, withoutBrowser } from '../../support/browser.ts';
import { poll } from '../../support/poll.ts';
import { hook } from '../../support/running-bridge.ts';
import { eventNamed, openConsole, shows, startConsole, TOKENS } from './console-bridge.ts';
import { assertReadable } from './readable.ts';

after(closeBrowser);

const inBrowser = { skip: withoutBrowser };
test('markup and hidden characters in every field are shown as text', inBrowser, async (t) => {
  const evil = '<img src=x onerror="document.title=1">\u202e\u0007';
  const { azure, url } = await startConsole(t);
  azure.schedule({ EventType: evil, EventSource: evil, Resources: [evil], Description: evil } as never);
  const asked: string[] = [];
  const page = await openConsole(t, url, TOKENS.orders);
  page.on('request', (request) => asked.push(new URL(request.url()).origin));
  const event = page.locator('#event-list > li');
  await event.getByRole('heading').getByText('<img src=x onerror="document.title=1">\\u202e\\u0007 of <img').waitFor();
  await event.getByText('Story').click();
  await event.getByText('Seen: Scheduled').waitFor();
  await event.getByRole('button', { name: /^Approve/ }).click();
  await page.getByRole('dialog').getByText('Machines: <img').waitFor();
  assert.equal(await page.locator('img, main script').count(), 0);
  assert.doesNotMatch(String(await page.evaluate('document.body.innerText')), /\p{Bidi_Control}/u);
  assert.equal(await page.title(), '(1) sim_0 · Scheduled Events bridge');
  assert.deepEqual([...new Set(asked)], [new URL(url).origin]);
});

test('an event is approved with the keyboard alone, and the focus comes back to where it was', inBrowser, async (t) => {
  const { azure, url } = await startConsole(t);
  azure.schedule({ EventType: 'Reboot', otherTenants: '10m' });
  const page = await openConsole(t, url);
  await eventNamed(page, 'Reboot of').waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.id'), 'token');
  await page.keyboard.type(TOKENS.orders);
  await page.keyboard.press('Enter');
  await page.locator('#who-name:focus').waitFor();
  const focused = () => page.locator(':focus').innerText();
  for (let presses = 0; !(await focused()).startsWith('Approve'); presses++) {
    assert.ok(presses < 14, await focused());
    await page.keyboard.press('Tab');
  }
  const outline = () => page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
  assert.equal(await outline(), 'solid', 'the focus is seen');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  assert.equal(await focused(), 'Cancel');
  await page.keyboard.press('Escape');
  assert.match(await focused(), /^Approve/);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await poll(() => azure.approvals().length === 1, 'the approval');
  assert.match(await focused(), /Approve|Reboot/);
  assert.equal(azure.approvals().length, 1);
});

test(
  'everything is labelled, in order and readable to all, light, dark and 360 pixels wide; and nothing overflows',
  inBrowser,
  async (t) => {
    const broken = await WebhookReceiver.start();
    t.after(() => broken[Symbol.asyncDispose]());
    broken.default = { status: 400 };
    const { azure, url, write } = await startConsole(
      t,
      { sinks: { hooks: hook(broken.url) } },
      { vms: ['web_0', 'web_1'] },
    );
    azure.schedule({ EventType: 'Reboot', Description: 'x'.repeat(300) });
    azure.start(azure.schedule({ EventType: 'Redeploy' }).EventId);
    azure.end(azure.schedule({ EventType: 'Freeze', EventStatus: 'Started' } as never).EventId);
    write({ sinks: { hooks: { type: 'webhok' } } });
    const page = await openConsole(t, url, TOKENS.orders);
    await fetch(`${url}/v1/reload`, { method: 'POST', headers: { authorization: `Bearer ${TOKENS.orders}` } });
    await shows(page, 'sinks.hooks.type');
    await shows(page, 'BRIDGE_SINK_REFUSED');
    const event = eventNamed(page, 'Reboot of');
    await event.getByText('Story').click();
    await event.getByText('Seen: Scheduled').waitFor();
    await assertReadable(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await assertReadable(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await assertReadable(page);
    await page.getByRole('button', { name: 'Start a drill…' }).click();
    await assertReadable(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await event.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('dialog').getByText('It reaches').waitFor();
    await assertReadable(page);
  },
);

test('of 1,000 events each is listed, and no task of a refresh or a second takes long', inBrowser, async (t) => {
  const { azure, url } = await startConsole(t, {}, { vms: Array.from({ length: 20 }, (_, index) => `vm_${index}`) });
  for (let index = 0; index < 1000; index++) azure.schedule({ EventType: 'Reboot', Resources: [`vm_${index % 20}`] });
  const page = await openConsole(t, url);
  await shows(page, /1000 events listed/);
  assert.equal(await page.locator('#event-list button[value=approve]').count(), 1000);
  const [longest, count] = (await page.evaluate(`new Promise((resolve) => {
    const tasks = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
    setTimeout(() => resolve([Math.max(0, ...tasks), tasks.length]), 5000);
  })`)) as [number, number];
  t.diagnostic(`the longest of ${count} long tasks in 5 s took ${longest} ms`);
  assert.ok(longest < 1000, `${longest} ms`);
});

test('its first paint does not wait for anything that it asks', inBrowser, async (t) => {
  const { url } = await startConsole(t);
  const page = await openConsole(t, url);
  const ms = (await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)) as number;
  t.diagnostic(`first contentful paint after ${ms} ms`);
  assert.ok(ms < 3000, `${ms} ms`);
});
