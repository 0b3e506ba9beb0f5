// Idle bridges → CPU a poll and memory, beside bare GET loops and a Python loop in the same minute.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeBetween, FLAGS, pidOf, withFlags } from './bridge-between.ts';
import { cpuMs, median, type Row, rssMb } from './figures.ts';
import { MetadataService } from './metadata-service.ts';

/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 20_000;
const ROUNDS = 3;
const BARE_GET = join(import.meta.dirname, 'bare-get.js');
const CASES = [
  { interval: '1s', intervalMs: 1000, roundMs: 20_000 },
  { interval: '100ms', intervalMs: 100, roundMs: 12_000 },
];

/** Each has a bridge and a bare loop of its own, with the same flags. */
const STARTED: readonly { readonly how: string; readonly flags: readonly string[]; readonly rssGoal: string }[] = [
  { how: "the unit's flags", flags: FLAGS, rssGoal: '≤ 60 MB' },
  { how: 'no flags', flags: [], rssGoal: '≤ 66 MB' },
];

export async function idle(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const each of CASES) {
    const [python, ...beside] = await Promise.all([
      measurePython(each),
      ...STARTED.map((started) => measurePair(each, started)),
    ]);
    rows.push(...beside.flat(), ...python);
  }
  return rows;
}

type Case = (typeof CASES)[number];

async function measurePair(
  { interval, intervalMs, roundMs }: Case,
  { how, flags, rssGoal }: (typeof STARTED)[number],
): Promise<Row[]> {
  await using surroundings = await BridgeBetween.start();
  await using otherService = await MetadataService.start();
  const bridge = await surroundings.startBridge(interval, {}, { flags });
  const bare = surroundings.spawn(withFlags([BARE_GET, otherService.url, String(intervalMs)], 'ignore', flags));
  await pause(SETTLE_MS);
  const [own, other] = await Promise.all([
    watch(pidOf(bridge), surroundings.metadata, roundMs),
    watch(pidOf(bare), otherService, roundMs),
  ]);
  const what = `idle, ${interval} polls, ${how}`;
  const times = own.cpu.map((ms, round) => ms / (other.cpu[round] ?? Number.NaN));
  const ratio = `${median(times).toFixed(2)} × (${times.map((each) => each.toFixed(2)).join(', ')})`;
  return [
    { what: `${what}: CPU a poll`, figure: `${cpuOf(own)}, bare loop ${cpuOf(other)}: ${ratio}`, goal: '≤ 1.3 ×' },
    { what: `${what}: RSS`, figure: `${rssOf(own)}, bare loop ${rssOf(other)}`, goal: rssGoal },
  ];
}

async function measurePython({ interval, intervalMs, roundMs }: Case): Promise<Row[]> {
  await using service = await MetadataService.start();
  using python = startPython(service.url, intervalMs);
  if (python.pid === null) return [];
  await pause(SETTLE_MS);
  const usage = await watch(python.pid, service, roundMs);
  return [
    { what: `idle, ${interval} polls, the Python loop`, figure: `${cpuOf(usage)} a poll, ${rssOf(usage)}`, goal: '' },
  ];
}

interface Usage {
  /** Milliseconds a poll, in each round. */
  readonly cpu: readonly number[];
  /** MB at the end. */
  readonly rss: number;
}

function cpuOf({ cpu }: Usage): string {
  return `${median(cpu).toFixed(2)} ms`;
}

function rssOf({ rss }: Usage): string {
  return `${rss.toFixed(1)} MB`;
}

/**
 * The rounds of all that are watched at once begin and end together, so that what else the machine does meets all of
 * them.
 */
async function watch(pid: number, service: MetadataService, roundMs: number): Promise<Usage> {
  const cpu: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = { cpu: cpuMs(pid), polls: service.polls };
    await pause(roundMs);
    cpu.push((cpuMs(pid) - before.cpu) / (service.polls - before.polls));
  }
  return { cpu, rss: rssMb(pid) };
}

/** Where python3 and its requests are not there, the pid is null. */
function startPython(url: string, intervalMs: number): Disposable & { readonly pid: number | null } {
  if (spawnSync('python3', ['-c', 'import requests']).status !== 0) return { pid: null, [Symbol.dispose]: () => {} };
  const child = spawn('python3', [join(import.meta.dirname, 'poll.py'), url, String(intervalMs / 1000)], {
    stdio: 'ignore',
  });
  return { pid: child.pid ?? null, [Symbol.dispose]: () => child.kill() };
}
