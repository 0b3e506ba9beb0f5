// 1,000 bridges in one process, `top` on a terminal → its memory, its CPU, how late its screen is.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EmulatedTerminal } from '../support/emulated-terminal.ts';
import { Program } from '../support/program.ts';
import { wallMs } from './clock.ts';
import { cpuMs, memoryMb, percentile, type Row } from './figures.ts';

const BRIDGES = 1000;
const START_MS = 15_000;
const MEASURE_MS = Number(process.env['BENCH_SECONDS'] ?? 30) * 1000;
const MANY_BRIDGES = join(import.meta.dirname, 'many-bridges.ts');

export async function top(): Promise<readonly Row[]> {
  const bridges = new Program([String(BRIDGES)], { main: MANY_BRIDGES });
  const fleet = join(tmpdir(), `bench-top-${process.pid}.txt`);
  const [opened = ''] = await bridges.lines(1);
  writeFileSync(fleet, Array.from({ length: BRIDGES }, (_, index) => urlOf(index, opened.slice(5))).join('\n'));
  const terminal = new EmulatedTerminal(['top', '--bridges', fleet]);
  try {
    await terminal.shows(`${BRIDGES} bridges`);
    await pause(START_MS);
    return await measure(terminal, bridges);
  } finally {
    await terminal.kill();
    await bridges.end('SIGKILL');
    rmSync(fleet);
  }
}

/** As `many-bridges.ts` tells them apart. */
function urlOf(index: number, port: string): string {
  return `http://127.1.${Math.floor(index / 250)}.${index % 250}:${port}`;
}

async function measure(terminal: EmulatedTerminal, bridges: Program): Promise<readonly Row[]> {
  const pid = childOf(terminal.pid);
  const shownMs = new Map<string, number>();
  const watch = setInterval(() => {
    const [probe] = /probe-\d+-end/.exec(terminal.text) ?? [];
    if (probe !== undefined && !shownMs.has(probe)) shownMs.set(probe, wallMs());
  }, 5);
  const before = { cpu: cpuMs(pid), atMs: performance.now() };
  await pause(MEASURE_MS);
  const cpu = (cpuMs(pid) - before.cpu) / (performance.now() - before.atMs);
  clearInterval(watch);
  const { rss, anonymous } = memoryMb(pid);
  const sent = [...bridges.stdout.matchAll(/^probe (\d+) ([\d.]+)$/gm)];
  const lags = sent.flatMap(([, probe, atMs]) => {
    const shown = shownMs.get(`probe-${probe}-end`);
    return shown === undefined ? [] : [shown - Number(atMs)];
  });
  const of = `top, ${BRIDGES} bridges × one event a second`;
  return [
    {
      what: `${of}: anonymous memory`,
      figure: `${anonymous.toFixed(1)} MB (RSS ${rss.toFixed(1)} MB)`,
      goal: '≤ 100 MB',
    },
    { what: `${of}: CPU`, figure: `${(cpu * 100).toFixed(1)} % of a core`, goal: '≤ 10 %' },
    {
      what: `${of}: published → on the screen`,
      figure: `p50 ${percentile(lags, 0.5).toFixed(0)} ms, at most ${Math.max(...lags).toFixed(0)} ms of ${lags.length}`,
      goal: '≤ 1000 ms',
    },
  ];
}

/** The command that the process with its terminal has started. */
function childOf(parent: number): number {
  const [child] = readdirSync(`/proc/${parent}/task`).flatMap((task) =>
    readFileSync(`/proc/${parent}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return Number(child);
}
