// 1,000 events → until a syslog sink has them accepted, beside a plain loop; an idle one.

import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Program } from '../support/program.ts';
import { EVENTS } from './accepted.ts';
import { BridgeBetween } from './bridge-between.ts';
import { sharedMs } from './clock.ts';
import { callsOf } from './deliveries.ts';
import { median, type Row } from './figures.ts';
import { idleBeside } from './idle-beside.ts';
import { manyEvents } from './many-events.ts';

const ROUNDS = 5;
const TIMED = join(import.meta.dirname, 'syslog-timed.ts');
const BARE = join(import.meta.dirname, 'bare-syslog.ts');
/** What the start leaves behind has been dealt with by then. */
const SETTLED_MS = 3000;

interface Sample {
  /** From the answer to the poll that listed them. */
  readonly allMs: number;
  /** From the first call to the last acceptance. */
  readonly sendingMs: number;
  /** The plain loop's, with the same batches. */
  readonly loopMs: number;
}

export async function syslog(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const settleMs of [1000, 0]) {
    const samples: Sample[] = [];
    for (let round = 0; round < ROUNDS; round++) samples.push(await burst(settleMs));
    const [allMs, sendingMs, loopMs] = (['allMs', 'sendingMs', 'loopMs'] as const).map((key) => median(samples.map((each) => each[key])));
    const what = `syslog over TCP, settle ${settleMs} ms, ${EVENTS} events in one document`;
    rows.push(
      { what: `${what}: all accepted`, figure: `${allMs?.toFixed(0)} ms, median of ${ROUNDS}`, goal: '' },
      {
        what: `${what}: first call to last acceptance`,
        figure: `${sendingMs?.toFixed(0)} ms, plain loop ${loopMs?.toFixed(0)} ms: ${((sendingMs ?? 0) / (loopMs ?? 1)).toFixed(2)} ×`,
        goal: settleMs > 0 ? '≤ 2 ×' : '',
      },
    );
  }
  const server = await Discard.start();
  rows.push(
    ...(await idleBeside([
      { name: 'webhook, no syslog', sections: {} },
      { name: 'syslog sink', sections: { sinks: { logs: sinkTo(server.port, 1000) } }, goals: { rss: '+ 5 MB' } },
    ])),
  );
  server.stop();
  return rows;
}

async function burst(settleMs: number): Promise<Sample> {
  const server = await Discard.start();
  await using surroundings = await BridgeBetween.start();
  const bridge = surroundings.spawnBridge('1s', { sinks: { logs: sinkTo(server.port, settleMs) } }, { main: TIMED });
  const calls = callsOf(bridge);
  await bridge.logs('"watching"');
  await pause(SETTLED_MS);
  const answeredMs = sharedMs(await surroundings.metadata.list(manyEvents(EVENTS)));
  const counts: number[] = [];
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, answeredMs];
  for (let accepted = 0; accepted < EVENTS; ) {
    const call = await calls.next();
    accepted += call.accepted;
    counts.push(call.accepted);
    firstMs = Math.min(firstMs, call.fromMs);
    lastMs = Math.max(lastMs, call.toMs);
  }
  await bridge.end('SIGTERM');
  const words = [server.port, settleMs, Math.round(server.bytes / EVENTS)].map(String);
  const { stdout } = await new Program([...words, counts.join(',')], { main: BARE }).ended();
  server.stop();
  return { allMs: lastMs - answeredMs, sendingMs: lastMs - firstMs, loopMs: Number(stdout) };
}

function sinkTo(port: number, settleMs: number): Readonly<Record<string, unknown>> {
  return { type: 'syslog', server: `tcp://127.0.0.1:${port}`, settle: `${settleMs}ms` };
}

/** Reads and counts. */
class Discard {
  bytes = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', ({ length }) => {
        this.bytes += length;
      });
    });
  }

  static async start(): Promise<Discard> {
    const server = new Discard();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The connections end with their other side. */
  stop(): void {
    this.#server.close();
  }
}
