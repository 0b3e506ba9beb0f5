// An approver's POST or release → how long until answer or StartRequest, beside bare POSTs.
import { setTimeout as pause } from 'node:timers/promises';
import { startSimulator } from '../../src/simulator.ts';
import { Program } from '../support/program.ts';
import { TOKEN, urlOf } from '../support/running-bridge.ts';
import { BridgeBetween } from './bridge-between.ts';
import { exchange, type Sent } from './exchange.ts';
import { percentile, type Row } from './figures.ts';
import { Traffic } from './traffic.ts';

const EVENTS = 200;
const WARM_UP = 50;
const POLL_INTERVAL = '50ms';
/** Two polls: by then the bridge knows of the event. */
const KNOWN_MS = 120;
const PATH = '/metadata/scheduledevents?api-version=2020-07-01';
/** A poll may show the start before the answer to the StartRequest is there. */
const TAKEN = /"state":"(submitted|started)"/;
const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };

export async function byRequest(): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  const [own, bare] = [await simulator(surroundings), await simulator(surroundings)];
  const bridge = await startBridge(surroundings, own);
  const samples: Record<'bridge' | 'bare', number[]> = { bridge: [], bare: [] };
  for (let event = 0; event < WARM_UP + EVENTS; event++) {
    const [first, second] = [await schedule(own), await schedule(bare)];
    await pause(KNOWN_MS + (event % 7) * 5);
    samples.bridge.push(
      await timed(`${bridge}/v1/approvals`, { headers: AUTHORIZED, body: startRequest(first) }, TAKEN),
    );
    await pause(20);
    samples.bare.push(await timed(bare + PATH, { headers: { Metadata: 'true' }, body: startRequest(second) }));
    await exchange('POST', `${own}/simulator/events/${first}/end`);
    await exchange('POST', `${bare}/simulator/events/${second}/end`);
  }
  return rows('POST /v1/approvals → submitted', samples.bridge, samples.bare);
}

export async function released(): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  await using azure = await startSimulator({ speed: 1 });
  using traffic = new Traffic(azure.url);
  const bridge = await startBridge(surroundings, azure.url);
  const samples: Record<'arrived' | 'answered', number[]> = { arrived: [], answered: [] };
  for (let event = 0; event < WARM_UP + EVENTS; event++) {
    const { EventId } = azure.schedule({ EventType: 'Reboot' });
    await pause(KNOWN_MS + (event % 7) * 5);
    await exchange('POST', `${bridge}/v1/holds`, { headers: AUTHORIZED, body: { EventId, reason: 'failing over' } });
    await exchange('POST', `${bridge}/v1/approvals`, { headers: AUTHORIZED, body: startRequest(EventId) });
    await pause(20);
    const posted = traffic.posted();
    const fromMs = performance.now();
    await exchange('DELETE', `${bridge}/v1/holds/${EventId}`, { headers: AUTHORIZED });
    samples.answered.push(performance.now() - fromMs);
    samples.arrived.push((await posted) - fromMs);
    await azure.until(() => azure.approvals().includes(EventId));
    azure.end(EventId);
  }
  return [
    ...rows('hold released → StartRequest', samples.arrived),
    ...rows('hold released → its answer', samples.answered),
  ];
}

/** In a process of its own; its URL. */
async function simulator(surroundings: BridgeBetween): Promise<string> {
  const program = surroundings.spawn(new Program(['simulate', '--listen', '127.0.0.1:0']));
  return (JSON.parse((await program.lines(1))[0] ?? '') as { endpoint: string }).endpoint;
}

/** With one approver; its URL. */
async function startBridge(surroundings: BridgeBetween, endpoint: string): Promise<string> {
  const approvals = { approvers: { orders: { token: { file: surroundings.secret(TOKEN) } } } };
  return urlOf(
    await surroundings.startBridge(POLL_INTERVAL, { metadata: { endpoint, pollInterval: POLL_INTERVAL }, approvals }),
  );
}

async function schedule(url: string): Promise<string> {
  const { text } = await exchange('POST', `${url}/simulator/events`, { body: { EventType: 'Reboot' } });
  return (JSON.parse(text) as { EventId: string }).EventId;
}

function startRequest(eventId: string): unknown {
  return { StartRequests: [{ EventId: eventId }] };
}

/** Milliseconds of a POST, whose answer has `expected` in it. */
async function timed(url: string, sent: Sent, expected = /(?:)/): Promise<number> {
  const fromMs = performance.now();
  const { text } = await exchange('POST', url, sent);
  const tookMs = performance.now() - fromMs;
  if (!expected.test(text)) throw new Error(`${url} was answered: ${text}`);
  return tookMs;
}

function rows(what: string, own: readonly number[], bare?: readonly number[]): readonly Row[] {
  return (['p50', 'p99'] as const).map((label) => {
    const share = Number(label.slice(1)) / 100;
    const ownMs = percentile(own.slice(WARM_UP), share);
    const bareMs = bare && percentile(bare.slice(WARM_UP), share);
    const beside = bareMs === undefined ? '' : `, bare POST ${bareMs.toFixed(2)} ms: ${(ownMs / bareMs).toFixed(1)} ×`;
    return { what: `${what}, ${label} of ${EVENTS}`, figure: `${ownMs.toFixed(2)} ms${beside}`, goal: '' };
  });
}
