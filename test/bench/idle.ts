// An idle bridge → what a poll costs and the memory held, beside a plain Python loop.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeBetween, pidOf } from './bridge-between.ts';
import { cpuMs, type Row, rssMb } from './figures.ts';
import { MetadataService } from './metadata-service.ts';

/** What the start leaves behind has been dealt with by then. */
const SETTLE_MS = 20_000;
const CASES = [
  { interval: '1s', intervalMs: 1000, measureMs: 30_000 },
  { interval: '100ms', intervalMs: 100, measureMs: 20_000 },
];

export async function idle(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { interval, intervalMs, measureMs } of CASES) {
    await using surroundings = await BridgeBetween.start();
    await using otherService = await MetadataService.start();
    const bridge = await surroundings.startBridge(interval);
    using python = startPython(otherService.url, intervalMs);
    await pause(SETTLE_MS);
    const [own, other] = await Promise.all([
      watch(pidOf(bridge), surroundings.metadata, measureMs),
      python.pid === null ? null : watch(python.pid, otherService, measureMs),
    ]);
    const beside = (figure: (usage: Usage) => string) => `${figure(own)}, Python ${other === null ? 'not measured' : figure(other)}`;
    rows.push(
      { what: `idle, ${interval} polls: CPU a poll`, figure: beside(({ cpu }) => `${cpu.toFixed(2)} ms`), goal: "≤ the Python loop's" },
      { what: `idle, ${interval} polls: RSS`, figure: beside(({ rss }) => `${rss.toFixed(1)} MB`), goal: '≤ 60 MB' },
    );
  }
  return rows;
}

interface Usage {
  /** Milliseconds a poll. */
  readonly cpu: number;
  /** MB at the end. */
  readonly rss: number;
}

async function watch(pid: number, service: MetadataService, measureMs: number): Promise<Usage> {
  const before = { cpu: cpuMs(pid), polls: service.polls };
  await pause(measureMs);
  return { cpu: (cpuMs(pid) - before.cpu) / (service.polls - before.polls), rss: rssMb(pid) };
}

/** Where python3 and its requests are not there, the pid is null. */
function startPython(url: string, intervalMs: number): Disposable & { readonly pid: number | null } {
  if (spawnSync('python3', ['-c', 'import requests']).status !== 0) return { pid: null, [Symbol.dispose]: () => {} };
  const child = spawn('python3', [join(import.meta.dirname, 'poll.py'), url, String(intervalMs / 1000)], { stdio: 'ignore' });
  return { pid: child.pid ?? null, [Symbol.dispose]: () => child.kill() };
}
