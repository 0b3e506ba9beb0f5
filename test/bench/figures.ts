// Samples, process ids and rows → percentiles, what a process used, and the printed table.
import { readdirSync, readFileSync } from 'node:fs';

/** One line of the table; `goal` is the issue's, empty where a row is there for comparison. */
export interface Row {
  readonly what: string;
  readonly figure: string;
  readonly goal: string;
}

/** The value that `share` (0 to 1) of the samples do not exceed. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/** Processor time of all threads of a process so far, in milliseconds. Linux only. */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}

/** Resident memory of a process, in MB. Linux only. */
export function rssMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Resident memory of a process, and what of it stands for no file, in MB. Linux only. */
export function memoryMb(pid: number): { readonly rss: number; readonly anonymous: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const [rss = Number.NaN, anonymous = Number.NaN] = ['Rss', 'Anonymous'].map(
    (name) => Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024,
  );
  return { rss, anonymous };
}

/** As a Markdown table. */
export function table(rows: readonly Row[]): string {
  const all: Row[] = [{ what: 'measured', figure: 'figure', goal: 'goal' }, ...rows];
  const widthOf = (column: keyof Row) => Math.max(...all.map((row) => row[column].length));
  const [what, figure, goal] = [widthOf('what'), widthOf('figure'), widthOf('goal')];
  const lines = all.map(
    (row) => `| ${row.what.padEnd(what)} | ${row.figure.padEnd(figure)} | ${row.goal.padEnd(goal)} |`,
  );
  lines.splice(1, 0, `| ${'-'.repeat(what)} | ${'-'.repeat(figure)} | ${'-'.repeat(goal)} |`);
  return lines.join('\n');
}
