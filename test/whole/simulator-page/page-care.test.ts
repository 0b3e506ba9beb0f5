// The simulator's page in a browser → accessible: screen readers, small windows, unusual text.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test, { after } from 'node:test';
import type { Script } from '../../../src/simulator/script/script.ts';
import { closeBrowser, openUnwatchedPage } from '../../support/browser.ts';
import {
  announces,
  eventNamed,
  inBrowser,
  open,
  START_MS,
  schedule,
  send,
  shows,
  startStanding,
} from './simulator-page.ts';

after(closeBrowser);

test('markup in names, descriptions, types and paths is shown as text', inBrowser, async (t) => {
  const evil = '<img src=x onerror="document.title=1">';
  const script: Script = {
    name: evil,
    purpose: evil,
    steps: [{ afterMs: 0, action: { kind: 'schedule', fields: { Description: evil } } }],
  };
  const { server, page } = await open(t, { vms: [evil], script });
  await schedule(server, {
    EventId: evil,
    EventType: evil,
    EventSource: evil,
    Resources: [evil, 'x'],
    Description: evil,
    seen: [evil],
  });
  await send(server, 'PUT', '/simulator/faults', { body: evil, vm: evil });
  await schedule(server, { EventType: evil, EventStatus: 'Started', startedFor: '1s' });
  await send(server, 'PUT', '/simulator/clock', { advance: '1s' });
  await fetch(`${server.url}/metadata/${encodeURIComponent(evil)}`);
  await shows(page, 'Ended events (1)');
  await shows(page, `Running: ${evil}`);
  await page.getByRole('heading', { name: `${evil} of ${evil}, x` }).waitFor();
  assert.equal(await page.locator('img, main script').count(), 0);
  assert.equal(await page.title(), 'Scheduled Events simulator');
  await page.getByRole('button', { name: `Cancel ${evil} of ${evil}, x` }).click();
  await announces(page, 'canceled');
});

test('a refresh keeps focus, selection and input', inBrowser, async (t) => {
  const { server, page } = await open(t);
  await schedule(server, { EventType: 'Reboot' });
  await page.getByRole('textbox', { name: 'Notice', exact: true }).fill('1');
  const button = page.getByRole('button', { name: 'Cancel Reboot of sim_0' });
  await button.focus();
  const isSame = await button.elementHandle();
  await schedule(server, { EventType: 'Freeze' });
  await send(server, 'PUT', '/simulator/clock', { advance: '1m' });
  await eventNamed(page, 'Freeze of sim_0').waitFor();
  await shows(page, 'in 14 min');
  assert.equal(await page.evaluate((element) => element === element?.ownerDocument?.activeElement, isSame), true);
  assert.equal(await page.getByRole('textbox', { name: 'Notice', exact: true }).inputValue(), '1');
});

test('part of 1,000 events is drawn and listed, and the rest is counted', inBrowser, async (t) => {
  const { server, page } = await open(t, { vms: Array.from({ length: 70 }, (_, index) => `vm_${index}`) });
  for (let index = 0; index < 1000; index++)
    server.group.events.schedule({ EventType: 'Reboot', Resources: ['vm_0'] }, START_MS);
  await shows(page, '950 more events are not shown.');
  await announces(page, 'Events: 1000 scheduled');
  assert.equal(await page.locator('#event-list > li').count(), 50);
  await shows(page, '996 more not drawn');
  await shows(page, '6 more machines are not drawn.');
  await page.getByRole('button', { name: 'Show 50 more' }).click();
  await shows(page, '900 more events are not shown.');
  assert.equal(await page.locator('#event-list > li').count(), 100);
  await page.getByRole('button', { name: 'Start' }).first().click();
  await announces(page, 'Reboot of vm_0 started');
});

test('the page reports a simulator that stops answering, and that it answers again', inBrowser, async (t) => {
  const server = await startStanding(t);
  const page = await openUnwatchedPage(server.url);
  t.after(() => page.context().close());
  await shows(page, 'incarnation 1');
  await server[Symbol.asyncDispose]();
  await announces(page, 'The simulator does not answer');
  await startStanding(t, { listen: { host: '127.0.0.1', port: Number(new URL(server.url).port) } });
  await announces(page, 'The simulator answers again');
});

test('a hidden page sends no requests', inBrowser, async (t) => {
  const server = await startStanding(t);
  const page = await openUnwatchedPage('about:blank');
  t.after(() => page.context().close());
  await page.clock.install();
  await page.goto(server.url);
  await shows(page, 'incarnation');
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.clock.runFor(60_000);
  assert.deepEqual(asked, []);
  await schedule(server, {});
  await page.evaluate(`delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))`);
  await announces(page, 'Freeze of sim_0 scheduled');
});

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

for (const [name, look] of [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['360 pixels wide', { viewport: { width: 360, height: 740 } }],
] as const) {
  test(`everything is labelled, in order and legible, and nothing overflows: ${name}`, inBrowser, async (t) => {
    const { server, page } = await open(t, { vms: ['web_0', 'web_1'] }, look);
    await schedule(server, { EventType: 'Reboot', Description: 'x'.repeat(300) });
    await schedule(server, { EventType: 'Redeploy', EventStatus: 'Started' });
    await schedule(server, { EventType: 'Freeze', EventStatus: 'Started', startedFor: '1m' });
    await send(server, 'POST', `/simulator/events/${await schedule(server, { EventType: 'Preempt' })}/cancel`);
    await send(server, 'PUT', '/simulator/clock', { advance: '1m' });
    await send(server, 'PUT', '/simulator/faults', { status: 503 });
    await fetch(`${server.url}/metadata/instance`);
    await shows(page, 'Ended events (2)');
    for (const summary of await page.locator('summary').all()) await summary.click();
    const check = async () => {
      await page.evaluate(AXE);
      const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
      const { violations } = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(tags)} })`)) as AxeResult;
      const found = violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
      );
      assert.deepEqual(found, []);
    };
    await check();
    const [wide, window] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
      number,
      number,
    ];
    assert.ok(wide <= window, `${wide} pixels in a window of ${window}`);
    await page.getByRole('button', { name: 'Move…' }).click();
    await check();
  });
}
