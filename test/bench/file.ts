// A file sink → its time for 1,000 events in one document beside a bare loop, and its cost idle.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { EVENTS } from './accepted.ts';
import { BridgeBetween } from './bridge-between.ts';
import { sharedMs } from './clock.ts';
import { type Call, callsOf } from './deliveries.ts';
import { median, type Row } from './figures.ts';
import { idleBeside } from './idle-beside.ts';
import { manyEvents } from './many-events.ts';

const ROUNDS = 5;
/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 3000;
const TIMED = join(import.meta.dirname, 'file-timed.ts');
const BARE = join(import.meta.dirname, 'file-bare.ts');

export async function file(): Promise<readonly Row[]> {
  const [ours, bare]: [Sample[], Sample[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await burst(BARE));
    ours.push(await burst(TIMED));
  }
  const of = (samples: readonly Sample[], name: keyof Sample) => median(samples.map((each) => each[name]));
  const [sinkMs, bareMs, loopMs] = [of(ours, 'sinkMs'), of(bare, 'sinkMs'), of([...ours, ...bare], 'loopMs')];
  const what = `file, ${EVENTS} events in one document`;
  const sinks = { archive: { type: 'file', path: 'events.ndjson' } };
  return [
    {
      what: `${what}: all accepted`,
      figure: `${of(ours, 'allMs').toFixed(0)} ms, bare ${of(bare, 'allMs').toFixed(0)} ms`,
      goal: '≤ 1000 ms',
    },
    {
      what: `${what}: in the sink`,
      figure: `${sinkMs.toFixed(0)} ms, bare ${bareMs.toFixed(0)} ms: ${(sinkMs / bareMs).toFixed(2)} of it; loop ${loopMs.toFixed(0)} ms`,
      goal: '≤ 2 of bare',
    },
    ...(await idleBeside([
      { name: 'webhook, no file', sections: {} },
      { name: 'file', sections: { sinks }, goals: { cpu: 'as without', rss: 'at most 5 MB more' } },
    ])),
  ];
}

interface Sample {
  /** From the answer to the poll that listed them. */
  readonly allMs: number;
  /** In calls of the sink. */
  readonly sinkMs: number;
  /** The same bytes in the same batches, one flush for each, in a process that does nothing else. */
  readonly loopMs: number;
}

async function burst(main: string): Promise<Sample> {
  await using surroundings = await BridgeBetween.start();
  const path = join(surroundings.folder, 'events.ndjson');
  const bridge = surroundings.spawnBridge('1s', { sinks: { archive: { type: 'file', path } } }, { main });
  const calls = callsOf(bridge);
  await bridge.logs('"watching"');
  // The first line of a file flushes its folder, too.
  await surroundings.metadata.list([EXAMPLE_EVENT]);
  await calls.next();
  await pause(SETTLE_MS);
  const answeredMs = sharedMs(await surroundings.metadata.list([EXAMPLE_EVENT, ...manyEvents(EVENTS)]));
  const made: Call[] = [];
  for (let accepted = 0; accepted < EVENTS; accepted += made.at(-1)?.accepted ?? 0) made.push(await calls.next());
  const loopMs = await plainLoop(path, `${path}.plain`, made);
  return {
    allMs: Math.max(...made.map(({ toMs }) => toMs)) - answeredMs,
    sinkMs: made.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0),
    loopMs,
  };
}

async function plainLoop(from: string, to: string, calls: readonly Call[]): Promise<number> {
  const source = await open(from);
  const [, ...lines] = (await source.readFile('utf8')).split(/(?<=\n)/);
  await source.close();
  const batches = calls.map(({ accepted }) => Buffer.from(lines.splice(0, accepted).join('')));
  const target = await open(to, 'a');
  const startedMs = performance.now();
  for (const batch of batches) {
    await target.write(batch);
    await target.datasync();
  }
  const loopMs = performance.now() - startedMs;
  await target.close();
  return loopMs;
}
