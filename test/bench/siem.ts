// 1,000 events in one document → how long each log sink takes beside a plain loop; its idle cost.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ReceivedRequest } from '../far-sides/webhook-receiver.ts';
import { hook, type Sections } from '../support/running-bridge.ts';
import { EVENTS } from './accepted.ts';
import { BridgeBetween } from './bridge-between.ts';
import { callsOf } from './deliveries.ts';
import { median, type Row } from './figures.ts';
import { idleBeside } from './idle-beside.ts';
import { manyEvents } from './many-events.ts';
import { httpFarSide } from './siem-http.ts';

const ROUNDS = 5;
/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 3000;
const TIMED = join(import.meta.dirname, 'siem-timed.ts');

/** One kind of sink that is measured. */
export interface SiemSink {
  readonly type: string;
  readonly start: () => Promise<SiemFarSide>;
}

/** The other side, which takes all there is. */
export interface SiemFarSide extends AsyncDisposable {
  /** The sink's options but for `type`. */
  readonly sink: Sections;
  /** What came so far counts for nothing. */
  forget(): void;
  /** Milliseconds from the first request since then to the last answer. */
  tookMs(): number;
  /** Once all came: the milliseconds that a plain loop needs for the same bytes in the same batches. */
  loop(): Promise<number>;
}

const SINKS: readonly SiemSink[] = [
  {
    type: 'splunk',
    start: () => httpFarSide({ sink: { token: { env: 'PATH' } }, inFlight: 4, answer: () => '{"text":"Success","code":0}' }),
  },
  { type: 'elasticsearch', start: () => httpFarSide({ sink: {}, inFlight: 4, answer: allCreated }) },
];

export async function siem(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const sink of SINKS) rows.push(...(await besideLoop(sink)));
  return [...rows, ...(await idle())];
}

async function besideLoop({ type, start }: SiemSink): Promise<readonly Row[]> {
  const [bridges, loops, calls]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    await using far = await start();
    const { sendingMs, callsMs } = await untilAccepted({ type, ...far.sink }, far);
    bridges.push(sendingMs);
    calls.push(callsMs);
    loops.push(await far.loop());
  }
  const [bridgeMs, loopMs] = [median(bridges), median(loops)];
  const what = `${type}, ${EVENTS} events in one document`;
  return [
    {
      what: `${what}: first request → last answer, median of ${ROUNDS}`,
      figure: `${bridgeMs.toFixed(1)} ms, plain loop ${loopMs.toFixed(1)} ms: ${(bridgeMs / loopMs).toFixed(1)} ×`,
      goal: '≤ 2 ×',
    },
    { what: `${what}: first call → last outcome, beside storing and logging`, figure: `${median(calls).toFixed(0)} ms`, goal: '' },
  ];
}

/** From the first request to the last answer, and from the sink's first call to its last one's end, once as much was sent before. */
async function untilAccepted(sink: Sections, far: SiemFarSide): Promise<{ readonly sendingMs: number; readonly callsMs: number }> {
  await using surroundings = await BridgeBetween.start();
  const bridge = surroundings.spawnBridge('1s', { sinks: { siem: sink } }, { main: TIMED });
  const calls = callsOf(bridge);
  await bridge.logs('"watching"');
  await pause(SETTLE_MS);
  let took = { sendingMs: Number.NaN, callsMs: Number.NaN };
  for (const Description of ['as usual', 'another one']) {
    far.forget();
    await surroundings.metadata.list(manyEvents(EVENTS).map((event) => ({ ...event, Description })));
    const all = [await calls.next()];
    while (all.reduce((sum, { accepted }) => sum + accepted, 0) < EVENTS) all.push(await calls.next());
    const callsMs = Math.max(...all.map(({ toMs }) => toMs)) - Math.min(...all.map(({ fromMs }) => fromMs));
    took = { sendingMs: far.tookMs(), callsMs };
    await pause(SETTLE_MS);
  }
  return took;
}

async function idle(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const cases = [{ name: 'webhook alone', sections: {} as Sections }];
  for (const { type, start } of SINKS) {
    const far = stack.use(await start());
    // The webhook's own receiver is in the surroundings of each bridge: this one goes to the far side of the first sink.
    cases.push({ name: `webhook and ${type}`, sections: { sinks: { hooks: hook(String(far.sink['url'])), siem: { type, ...far.sink } } } });
  }
  return await idleBeside(cases.map((each) => ({ ...each, goals: { cpu: 'as webhook alone', rss: '≤ 5 MB more' } })));
}

/** As Elasticsearch answers a bulk request. */
function allCreated({ body }: ReceivedRequest): string {
  const ids = [...body.toString().matchAll(/"_id":"([0-9a-f]{64})"/g)].map(([, id]) => id);
  return JSON.stringify({ errors: false, items: ids.map((_id) => ({ create: { _id, status: 201 } })) });
}
