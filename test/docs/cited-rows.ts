// A page with numbered table rows, and tests that cite them → which row names which tests.
import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A line of a table that begins with a number of its own. */
export interface CitedRow {
  readonly id: string;
  readonly cells: readonly string[];
  /** The table's heading. */
  readonly columns: readonly string[];
  /** Named in the last cell: below test/, without `.test.ts`. */
  readonly tests: readonly string[];
}

/**
 * The rows of all tables of a page whose first cell is a number such as `F-07`. `path` starts at the repository's root.
 */
export function citedRows(path: string, id: RegExp): readonly CitedRow[] {
  const rows: CitedRow[] = [];
  let columns: readonly string[] = [];
  let isFirst = true;
  for (const line of pageOf(path).split('\n')) {
    if (!line.startsWith('|')) isFirst = true;
    else {
      const cells = cellsOf(line);
      if (isFirst) columns = cells;
      isFirst = false;
      const [name = ''] = cells;
      if (id.test(name)) rows.push({ id: name, cells, columns, tests: namesIn(cells.at(-1) ?? '') });
    }
  }
  return rows;
}

export function pageOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export interface Citations {
  /** The files whose titles cite a row, sorted. */
  citing(id: string): readonly string[];
  /** Each number that a title cites, with its file. */
  readonly all: readonly { readonly file: string; readonly id: string }[];
  /** Numbers that stand elsewhere than at the end of a title. */
  readonly strays: readonly string[];
}

/** Lists of numbers at the end of a title: `… (H-6, H-7)`. Those of other tables may stand between them. */
const LIST = / \(([A-Z]{1,2}-\d+(?:, [A-Z]{1,2}-\d+)*)\)(?=['"`],)/g;

/** Reads every test but `except`, which speaks of the numbers. `id` tells which are meant, `stray` finds those that stand somewhere else. */
export function citationsOf(id: RegExp, stray: RegExp, except: string): Citations {
  const all: { file: string; id: string }[] = [];
  const strays: string[] = [];
  for (const path of globSync('test/**/*.test.ts', { cwd: ROOT })) {
    const file = path.split(sep).join('/').slice('test/'.length, -'.test.ts'.length);
    if (file === except) continue;
    const text = readFileSync(join(ROOT, path), 'utf8');
    const listed = [...text.matchAll(LIST)].flatMap(([, list]) => list?.split(', ') ?? []);
    for (const each of new Set(listed)) if (id.test(each)) all.push({ file, id: each });
    for (const [found] of text.replaceAll(LIST, '').matchAll(stray)) strays.push(`${path}: ${found}`);
  }
  const citing = (wanted: string) => all.filter((each) => each.id === wanted).map(({ file }) => file);
  return { all, strays, citing: (wanted) => citing(wanted).sort() };
}

/** Rows whose last cell names other files than those that cite it. */
export function differingRows(rows: readonly CitedRow[], citations: Citations): readonly object[] {
  return rows
    .map(({ id, tests }) => ({ id, named: [...tests].sort().join(', '), citing: citations.citing(id).join(', ') }))
    .filter(({ named, citing }) => named !== citing);
}

/** Citations of rows that are not there, and numbers where no citation is. */
export function unknownCitations(rows: readonly CitedRow[], { all, strays }: Citations): readonly string[] {
  const known = new Set(rows.map(({ id }) => id));
  return [...all.filter(({ id }) => !known.has(id)).map(({ file, id }) => `${file}: ${id}`), ...strays];
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
}
