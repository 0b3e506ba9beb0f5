// Readers of the stream in a process of their own → how long a CloudEvent takes, memory, lateness.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import type { Program } from '../support/program.ts';
import { urlOf } from '../support/running-bridge.ts';
import { BridgeBetween, pidOf, withFlags } from './bridge-between.ts';
import { wallMs } from './clock.ts';
import { cpuMs, percentile, type Row, rssMb } from './figures.ts';

const READERS_SCRIPT = join(import.meta.dirname, 'stream-readers.ts');
const READERS = 100;
const IDLE_READERS = 1000;
/** Each may have a quarter of the readers. */
const CALLERS = ['one', 'two', 'three', 'four'];
const CHANGES = 200;
const WARM_UP = 50;
const INTERVAL_MS = 50;
const IDLE_MS = Number(process.env['BENCH_SECONDS'] ?? 20) * 1000;

export async function stream(): Promise<readonly Row[]> {
  return [...(await measureLatency()), ...(await measureIdle())];
}

/**
 * From the log line that is written as soon as the commit is through: its clock has whole milliseconds, so up to 1 ms
 * is too much.
 */
async function measureLatency(): Promise<readonly Row[]> {
  await using rig = await BridgeBetween.start();
  const bridge = await rig.startBridge(`${INTERVAL_MS}ms`);
  const readers = await openReaders(rig, bridge, READERS);
  const came: number[][] = [];
  const fromAnswer: number[] = [];
  for (let change = 0; change < WARM_UP + CHANGES; change++) {
    const answered = rig.metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
    const moments = (await nextLine(readers)).split(' ').slice(2).map(Number);
    const answeredMs = wallMs(await answered);
    came.push(moments);
    if (change >= WARM_UP) fromAnswer.push(...moments.map((atMs) => atMs - answeredMs));
    // At another place in the poll's rhythm.
    await pause(10 + (change % 7) * 5);
  }
  const committed = committedMs(bridge);
  if (committed.length !== came.length) throw new Error(`${committed.length} commits and ${came.length} events`);
  const fromCommit = came
    .flatMap((moments, change) => moments.map((atMs) => atMs - (committed[change] ?? 0)))
    .slice(WARM_UP * READERS);
  const figure = (samples: readonly number[]) =>
    `p50 ${percentile(samples, 0.5).toFixed(2)} ms, p99 ${percentile(samples, 0.99).toFixed(2)} ms`;
  const of = `each of ${READERS} readers, ${CHANGES} changes`;
  return [
    { what: `stream, commit → ${of}`, figure: figure(fromCommit), goal: 'p99 ≤ 5 ms' },
    { what: `stream, poll answered → ${of}, the commit's fsync included`, figure: figure(fromAnswer), goal: '' },
  ];
}

/** When each change was told in the log, in milliseconds since 1970. */
function committedMs({ stderr }: Program): readonly number[] {
  const lines = stderr.split('\n').filter((line) => line.includes('"change stored"'));
  return lines.map((line) => new Date((JSON.parse(line) as { time: string | number }).time).getTime());
}

async function measureIdle(): Promise<readonly Row[]> {
  await using rig = await BridgeBetween.start();
  const named = CALLERS.map((name) => [name, { token: { env: `TOKEN_${name}` } }] as const);
  const env = Object.fromEntries(CALLERS.map((name) => [`TOKEN_${name}`, tokenOf(name)]));
  const bridge = await rig.startBridge(
    '1s',
    { http: { listen: '127.0.0.1:0', readers: Object.fromEntries(named) } },
    { env },
  );
  await pause(5000);
  const pid = pidOf(bridge);
  const alone = { rss: rssMb(pid), ...(await watchPolls(rig, pid)) };
  await openReaders(rig, bridge, IDLE_READERS, CALLERS.map(tokenOf));
  const crowded = { ...(await watchPolls(rig, pid)), rss: rssMb(pid) };
  const late = (samples: readonly number[]) => `${Math.max(...samples).toFixed(1)} ms at most`;
  return [
    {
      what: `stream, ${IDLE_READERS} idle readers: RSS more`,
      figure: `${(crowded.rss - alone.rss).toFixed(1)} MB`,
      goal: '≤ 30 MB',
    },
    {
      what: 'stream, 1s polls: later than 1 s after the one before',
      figure: `${late(crowded.late)}; without readers ${late(alone.late)}`,
      goal: '≤ 20 ms',
    },
    {
      what: 'stream, CPU a poll with idle readers, their heart-beats included',
      figure: `${crowded.cpu.toFixed(2)} ms; without readers ${alone.cpu.toFixed(2)} ms`,
      goal: '',
    },
  ];
}

async function watchPolls({ metadata }: BridgeBetween, pid: number): Promise<{ late: number[]; cpu: number }> {
  const late: number[] = [];
  const before = { cpu: cpuMs(pid), polls: metadata.polls };
  const endMs = performance.now() + IDLE_MS;
  for (let lastMs = await metadata.answered(); performance.now() < endMs; ) {
    const atMs = await metadata.answered();
    late.push(atMs - lastMs - 1000);
    lastMs = atMs;
  }
  return { late, cpu: (cpuMs(pid) - before.cpu) / (metadata.polls - before.polls) };
}

function tokenOf(name: string): string {
  return `the-token-of-reader-${name}`;
}

async function openReaders(
  rig: BridgeBetween,
  bridge: Program,
  count: number,
  tokens: readonly string[] = [],
): Promise<Program> {
  const words = [READERS_SCRIPT, `${urlOf(bridge)}/v1/stream`, String(count), ...tokens];
  const readers = rig.spawn(withFlags(words, ['ignore', 'pipe', 'inherit'], []));
  await nextLine(readers);
  return readers;
}

/** Takes it from what the program has printed. */
async function nextLine(program: Program): Promise<string> {
  const [line = ''] = await program.lines(1);
  program.stdout = program.stdout.slice(line.length + 1);
  return line;
}
