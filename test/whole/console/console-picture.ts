// Run by hand with `node --test` → docs/operate/console.png: the console with a maintenance.
import { join } from 'node:path';
import test, { after } from 'node:test';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { closeBrowser } from '../../support/browser.ts';
import { hook } from '../../support/running-bridge.ts';
import { eventNamed, openConsole, shows, startConsole, TOKENS } from './console-bridge.ts';
import { nightsAndBudgets } from './nights-and-budgets.ts';

after(closeBrowser);

test('a picture of the console', async (t) => {
  const [good, broken] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  t.after(() => Promise.all([good[Symbol.asyncDispose](), broken[Symbol.asyncDispose]()]));
  broken.default = { status: 503 };
  const sinks = { orders: hook(good.url), tickets: hook(broken.url) };
  const vms = ['web_0', 'db_0', 'db_1'];
  const { azure, url } = await startConsole(t, { approvals: nightsAndBudgets(), sinks }, { vms, speed: 1 });
  const page = await openConsole(t, url, TOKENS.orders, { viewport: { width: 1064, height: 1480 } });
  azure.start(azure.schedule({ EventType: 'Freeze', Resources: ['db_0'], DurationInSeconds: 300 }).EventId);
  azure.schedule({ EventType: 'Redeploy', Resources: ['web_0'], notice: '11h' });
  azure.schedule({ EventType: 'Reboot', Resources: ['db_1'], notice: '6h' });
  await eventNamed(page, 'Reboot of db_1').getByText('Held back by the budget').waitFor();
  const { EventId } = azure.schedule({ EventType: 'Terminate', Resources: ['web_0'], notice: '15m' });
  await eventNamed(page, 'Terminate of').waitFor();
  const headers = { authorization: `Bearer ${TOKENS.billing}`, 'content-type': 'application/json' };
  await fetch(`${url}/v1/holds`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ EventId, reason: 'month end until 14:00' }),
  });
  await shows(page, 'Held by billing');
  await shows(page, 'BRIDGE_SINK_UNAVAILABLE');
  await eventNamed(page, 'Terminate of').getByText('Story').click();
  await eventNamed(page, 'Terminate of').getByText('orders: delivered').waitFor();
  await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)');
  await page.screenshot({ path: join(import.meta.dirname, '../../../docs/operate/console.png') });
});
