// The console with windows and budgets → what waits for which window, and what is held back.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { closeBrowser, withoutBrowser } from '../../support/browser.ts';
import { eventNamed, openConsole, startConsole, TOKENS } from './console-bridge.ts';
import { nightsAndBudgets } from './nights-and-budgets.ts';
import { assertReadable } from './readable.ts';

after(closeBrowser);

test('cards and time line show the window that an event waits for, and the budget that holds one back', {
  skip: withoutBrowser,
}, async (t) => {
  const { azure, url } = await startConsole(t, { approvals: nightsAndBudgets() }, { vms: ['web_0', 'db_0', 'db_1'] });
  azure.start(azure.schedule({ EventType: 'Freeze', Resources: ['db_0'], DurationInSeconds: 300 }).EventId);
  azure.schedule({ EventType: 'Reboot', Resources: ['db_1'], notice: '6h' });
  const { EventId } = azure.schedule({ EventType: 'Redeploy', Resources: ['web_0'], notice: '11h' });
  const page = await openConsole(t, url, TOKENS.orders, {
    viewport: { width: 1064, height: 1080 },
    timezoneId: 'Europe/Berlin',
  });
  const waits = eventNamed(page, 'Redeploy of web_0');
  await waits
    .getByText(
      /^Waits for the window nights \(.* to .* UTC\)\. If nobody acts: approved by policy\[0\] at .* UTC \(.* local\), in [23] h/,
    )
    .waitFor();
  await waits.getByText('Nobody has approved it.', { exact: true }).waitFor();
  await eventNamed(page, 'Reboot of db_1')
    .getByText('Held back by the budget databases. If nobody acts: approved by policy[1] as soon as it fits.')
    .waitFor();
  const lanes = page.locator('#lanes > li');
  const band = lanes.filter({ hasText: 'web_0' }).getByRole('img', { name: /^Window nights, from .* until / });
  await band.waitFor();
  assert.equal(await page.locator('.band').count(), 1, 'in the lane of the event that waits for it alone');
  const marked = lanes
    .filter({ hasText: 'db_1' })
    .getByRole('img', { name: /Scheduled, held back\. .*Held back by the budget databases\.$/ });
  await marked.getByText('○ Reboot, held back').waitFor();
  const bar = page.getByRole('img', { name: /^Redeploy of web_0, Scheduled, waits for nights\./ });
  const [inner, outer] = [await band.boundingBox(), await bar.boundingBox()];
  assert.ok(inner && outer && inner.x > outer.x && inner.x + inner.width < outer.x + outer.width, 'before NotBefore');
  await assertReadable(page);
  const folder = process.env['SCREENSHOTS'];
  if (folder) await page.screenshot({ path: `${folder}/16-windows.png` });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${url}/#/events/${EventId}`);
  await page.locator('h3:focus').getByText('Redeploy of web_0').waitFor();
  await waits.getByText(/^Waits for the window nights/).waitFor();
  await assertReadable(page);
  if (folder) await page.screenshot({ path: `${folder}/16-windows-narrow.png`, fullPage: true });
});
