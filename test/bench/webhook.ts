// 1,000 events in one document → time until a receiver has them, beside a plain loop of POSTs.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { Program } from '../support/program.ts';
import { hook } from '../support/running-bridge.ts';
import { BridgeBetween, pidOf } from './bridge-between.ts';
import { median, type Row, rssMb } from './figures.ts';
import { manyEvents } from './many-events.ts';
import { webhookCosts } from './webhook-costs.ts';

const EVENTS = 1000;
const ROUNDS = 5;
/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 5000;
const SAMPLE_MS = 10;
/** Of a CloudEvent of these events. */
const BODY_BYTES = 1250;
const ONE_AT_A_TIME = join(import.meta.dirname, 'one-at-a-time.ts');
const POST_LOOP = join(import.meta.dirname, 'post-loop.ts');

interface Case {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly inFlight: 1 | 16;
  readonly goals: { readonly time: string; readonly ratio: string };
}

const CASES: readonly Case[] = [
  { name: 'structured, 1 in flight', options: {}, inFlight: 1, goals: { time: '', ratio: '≥ 0.5' } },
  { name: 'structured, 16 in flight', options: {}, inFlight: 16, goals: { time: '≤ 1000 ms', ratio: '' } },
  { name: 'batch', options: { mode: 'batch' }, inFlight: 16, goals: { time: '≤ 1000 ms', ratio: '' } },
];

export async function webhook(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, options, inFlight, goals } of CASES) {
    const samples: Sample[] = [];
    const loops: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      loops.push(await plainLoop(inFlight));
      samples.push(await burst(options, inFlight));
    }
    const loopMs = median(loops);
    const [allMs, sendingMs] = [
      median(samples.map((each) => each.allMs)),
      median(samples.map((each) => each.sendingMs)),
    ];
    const grown = Math.max(...samples.map((each) => each.grownMb));
    const what = `${EVENTS} events in one document, ${name}`;
    rows.push(
      { what: `${what}: all accepted`, figure: `${allMs.toFixed(0)} ms, median of ${ROUNDS}`, goal: goals.time },
      {
        what: `${what}: events a second`,
        figure: `${perSecond(sendingMs)}, plain loop ${perSecond(loopMs)}: ${(loopMs / sendingMs).toFixed(2)} of it`,
        goal: goals.ratio,
      },
      { what: `${what}: RSS growth`, figure: `${grown.toFixed(1)} MB at most`, goal: '≤ 15 MB' },
    );
  }
  return [...rows, ...(await webhookCosts())];
}

interface Sample {
  /** From the answer to the poll that listed them. */
  readonly allMs: number;
  /** From the first request to the last acceptance. */
  readonly sendingMs: number;
  readonly grownMb: number;
}

async function burst(options: Readonly<Record<string, unknown>>, inFlight: 1 | 16): Promise<Sample> {
  await using surroundings = await BridgeBetween.start();
  const sections = { sinks: { hooks: hook(surroundings.receiver.url, options) } };
  const bridge = surroundings.spawnBridge('1s', sections, inFlight === 1 ? { main: ONE_AT_A_TIME } : {});
  await bridge.logs('"watching"');
  await pause(SETTLE_MS);
  const memory = watchMemory(pidOf(bridge));
  const accepted = acceptedBy(surroundings.receiver);
  const answeredMs = await surroundings.metadata.list(manyEvents(EVENTS));
  const { firstMs, lastMs } = await accepted;
  await pause(SETTLE_MS / 5);
  return { allMs: lastMs - answeredMs, sendingMs: lastMs - firstMs, grownMb: memory() };
}

/** Resolves with the moments of the first request and of the acceptance of the last CloudEvent. */
function acceptedBy(receiver: WebhookReceiver): Promise<{ firstMs: number; lastMs: number }> {
  let left = EVENTS;
  let firstMs = 0;
  return new Promise((resolve) => {
    receiver.default = (response, _, { headers, body }) => {
      firstMs ||= performance.now();
      left -= headers['content-type']?.includes('batch') ? (JSON.parse(body.toString()) as unknown[]).length : 1;
      const isLast = left === 0;
      response.writeHead(204).end(() => {
        if (isLast) resolve({ firstMs, lastMs: performance.now() });
      });
    };
  });
}

/** How much a process has grown at its largest since now; asked once. */
function watchMemory(pid: number): () => number {
  const before = rssMb(pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, rssMb(pid));
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return most - before;
  };
}

/** Milliseconds that a program needs which does nothing else. */
async function plainLoop(inFlight: number): Promise<number> {
  await using receiver = await WebhookReceiver.start();
  const program = new Program([receiver.url, String(EVENTS), String(inFlight), String(BODY_BYTES)], {
    main: POST_LOOP,
  });
  const { stdout } = await program.ended();
  return Number(stdout);
}

function perSecond(ms: number): string {
  return ((EVENTS * 1000) / ms).toFixed(0);
}
