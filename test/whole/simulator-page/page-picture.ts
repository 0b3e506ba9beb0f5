// Run by hand → docs/simulate/simulator-page.png: the page with events in each state.
import { join } from 'node:path';
import { startSimulator } from '../../../src/simulator/server.ts';
import { closeBrowser, openUnwatchedPage } from '../../support/browser.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const deps = new VirtualTime({ startMs: Date.UTC(2026, 10, 21, 14) });
await using server = await startSimulator({
  listen: { host: '127.0.0.1', port: 8080 },
  vms: 3,
  name: 'web',
  deps,
});

async function order(method: string, path: string, body: object = {}): Promise<string> {
  const answer = await fetch(server.url + path, { method, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  const text = await answer.text();
  return text === '' ? '' : String(JSON.parse(text).EventId);
}
const schedule = (fields: object) => order('POST', '/simulator/events', fields);
const advance = (time: string) => order('PUT', '/simulator/clock', { advance: time });
const asClient = (init: RequestInit = {}) =>
  fetch(`${server.url}/metadata/scheduledevents?api-version=2020-07-01`, { ...init, headers: { Metadata: 'true' } });

const preempt = await schedule({ EventType: 'Preempt', Resources: ['web_2'], notice: '6m' });
await schedule({ EventType: 'Reboot', EventSource: 'User', Resources: ['web_0'] });
const redeploy = await schedule({ EventType: 'Redeploy', Resources: ['web_1'] });
await advance('90s');
await schedule({ EventType: 'Reboot', EventStatus: 'Started', startedFor: '4m', Resources: ['web_1', 'web_2'] });
await advance('90s');
await order('POST', `/simulator/events/${preempt}/cancel`);
await schedule({ EventType: 'Freeze', DurationInSeconds: 5, otherTenants: '3m' });
await advance('2m');
await asClient();
await asClient({ method: 'POST', body: JSON.stringify({ StartRequests: [{ EventId: redeploy }] }) });
await advance('70s');
await order('PUT', '/simulator/faults', { status: 503, times: 5 });
await asClient();

const page = await openUnwatchedPage(server.url, { viewport: { width: 1064, height: 800 } });
await page.getByText('Ended events (2)').waitFor();
await page.getByLabel('Name').selectOption('rolling-maintenance');
await page.screenshot({ path: join(import.meta.dirname, '../../../docs/simulate/simulator-page.png'), fullPage: true });
await closeBrowser();
