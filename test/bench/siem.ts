// 1,000 events in one document → how long each log sink takes beside a plain loop; its idle cost.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { hook, type Sections } from '../support/running-bridge.ts';
import { EVENTS } from './accepted.ts';
import { BridgeBetween, withFlags } from './bridge-between.ts';
import { sharedMs } from './clock.ts';
import { type Call, callsOf } from './deliveries.ts';
import { median, type Row } from './figures.ts';
import { type IdleCase, idleBeside } from './idle-beside.ts';
import { manyEvents } from './many-events.ts';
import { SINKS } from './siem-sinks.ts';

const ROUNDS = 5;
/** What the start and the deliveries leave behind has been dealt with by then. */
const SETTLE_MS = 500;
const TIMED = join(import.meta.dirname, 'siem-timed.ts');
const LOOP = join(import.meta.dirname, 'siem-loop.ts');

/** One kind of sink that is measured. */
export interface SiemSink {
  readonly type: string;
  /** What is not as by default; such a one is not measured idle. */
  readonly variant?: string;
  /** @param folder on the disk of the bridge's store */
  readonly start: (folder: string) => Promise<SiemFarSide>;
}

/** The other side, which takes all there is. */
export interface SiemFarSide extends AsyncDisposable {
  /** The sink's options but for `type`. */
  readonly sink: Sections;
  /** Of the bridge. */
  readonly env?: Readonly<Record<string, string>>;
  /** What came so far counts for nothing. */
  forget(): void;
  /** What came since then, in these calls. */
  sends(calls: readonly Call[]): SiemSends;
}

/** What a plain loop sends: the bytes of each batch. */
export interface SiemSends {
  readonly way: 'post' | 'append' | 'stream';
  /** An origin, a path or a port. */
  readonly to: string;
  readonly inFlight: number;
  readonly settleMs: number;
  readonly sends: readonly {
    readonly base64: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
  }[];
}

interface Sample {
  /** From the sink's first call to the end of its last one. */
  readonly callsMs: number;
  /** Of it, before each call first waited: what is sent is made then. */
  readonly makingMs: number;
  /** From the answer to the poll that listed the events to the same end. */
  readonly allMs: number;
  readonly loopMs: number;
  readonly batches: number;
}

export async function siem(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const sink of SINKS) rows.push(...(await besideLoop(sink)));
  return [...rows, ...(await idle())];
}

async function besideLoop({ type, variant, start }: SiemSink): Promise<readonly Row[]> {
  const samples = await rounds(type, start);
  const of = (key: keyof Sample) => median(samples.map((each) => each[key]));
  const [callsMs, makingMs, loopMs] = [of('callsMs'), of('makingMs'), of('loopMs')];
  const times = (ms: number) => `${(ms / loopMs).toFixed(1)} ×`;
  const what = `${[type, variant].filter(Boolean).join(', ')}: ${EVENTS} events in one document`;
  const figure = `${callsMs.toFixed(1)} ms in ${of('batches')} batches, plain loop ${loopMs.toFixed(1)} ms: ${times(callsMs)}`;
  const rest = `${makingMs.toFixed(1)} ms; without it ${(callsMs - makingMs).toFixed(1)} ms: ${times(callsMs - makingMs)}`;
  return [
    { what: `${what}, first call → last acceptance`, figure, goal: '≤ 2 ×' },
    { what: `${what}, of it encoding`, figure: rest, goal: '' },
    { what: `${what}, poll's answer → last acceptance`, figure: `${of('allMs').toFixed(0)} ms`, goal: '' },
  ];
}

/** Bridge and loop in turn; the first round warms up. */
async function rounds(type: string, start: SiemSink['start']): Promise<readonly Sample[]> {
  await using surroundings = await BridgeBetween.start();
  await using far = await start(surroundings.folder);
  const how = { main: TIMED, env: far.env };
  const bridge = surroundings.spawnBridge('1s', { sinks: { siem: { type, ...far.sink } } }, how);
  const calls = callsOf(bridge);
  await bridge.logs('"watching"');
  const samples: Sample[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await pause(SETTLE_MS);
    if (round > 0) far.forget();
    const events = manyEvents(EVENTS).map((event) => ({ ...event, Description: `round ${round}` }));
    const answeredMs = sharedMs(await surroundings.metadata.list(events));
    const made = [await calls.next()];
    while (made.reduce((sum, { accepted }) => sum + accepted, 0) < EVENTS) made.push(await calls.next());
    const [firstMs, lastMs] = [
      Math.min(...made.map(({ fromMs }) => fromMs)),
      Math.max(...made.map(({ toMs }) => toMs)),
    ];
    const makingMs = made.reduce((sum, { firstTurnMs }) => sum + firstTurnMs, 0);
    await pause(SETTLE_MS);
    const loopMs = await plainLoop(far.sends(made), surroundings.folder);
    samples.push({ callsMs: lastMs - firstMs, makingMs, allMs: lastMs - answeredMs, loopMs, batches: made.length });
  }
  return samples.slice(1);
}

/** With the same Node flags as the bridge. */
async function plainLoop(sends: SiemSends, folder: string): Promise<number> {
  const file = join(folder, 'sends.json');
  writeFileSync(file, JSON.stringify(sends));
  const { code, stdout } = await withFlags([LOOP, file], ['ignore', 'pipe', 'inherit']).ended();
  if (code !== 0) throw new Error(`the plain loop ended with ${code}`);
  return Number(stdout);
}

async function idle(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const surroundings = stack.use(await BridgeBetween.start());
  const hooks = hook(stack.use(await WebhookReceiver.start()).url);
  const cases: IdleCase[] = [{ name: 'webhook alone', sections: { sinks: { hooks } } }];
  for (const { type, variant, start } of SINKS) {
    if (variant !== undefined) continue;
    const far = stack.use(await start(surroundings.folder));
    const rss = type === 'azure-monitor' ? '' : '≤ 5 MB more';
    const sections = { sinks: { hooks, siem: { type, ...far.sink } } };
    cases.push({ name: `webhook and ${type}`, sections, env: far.env, goals: { cpu: 'as webhook alone', rss } });
  }
  return await idleBeside(cases);
}
