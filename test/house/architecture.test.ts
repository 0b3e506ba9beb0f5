// docs/develop/architecture.md's table and the sources → imports point one way, and no cycles.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = 'docs/develop/architecture.md';

interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Paths from the root of our own modules that it imports, types included. */
  readonly imports: readonly string[];
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?:type\s+)?(?:[^'";]*?\sfrom\s+)?['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;

function read(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const imports = [...text.matchAll(IMPORT)].map(([, plain, dynamic]) =>
    normalize(join(dirname(path), (plain ?? dynamic) as string)),
  );
  return { path, text, imports: imports.filter((target) => target !== 'package.json') };
}

const files = globSync(['src/**/*.ts', 'adapters/**/*.ts'], { cwd: ROOT })
  .map((path) => read(normalize(path)))
  .sort((a, b) => (a.path < b.path ? -1 : 1));

interface Row {
  /** `src/net`, or one file: `src/errors.ts`. */
  readonly place: string;
  readonly mayImport: readonly string[];
}

/** The rows of the import table, in their order. */
const rows: readonly Row[] = [
  ...readFileSync(join(ROOT, PAGE), 'utf8').matchAll(/^\| `((?:src|adapters)\/[^`]+)` \|[^|]*\|([^|]*)\|$/gm),
].map(([, place = '', last = '']) => ({
  place,
  mayImport: [...last.matchAll(/`([^`]+)`/g)].map(([, name = '']) => wholePath(name)),
}));

/** In the last column `src/` is left out. */
function wholePath(name: string): string {
  return name.startsWith('adapters') ? name : `src/${name}`;
}

/** The row with the longest place that holds this file. */
function rowOf(path: string): Row | undefined {
  const holding = rows.filter(({ place }) => path === place || path.startsWith(`${place}/`));
  return holding.sort((a, b) => b.place.length - a.place.length)[0];
}

/** What a file of one row imports of other rows: `from → to`, with the places. */
function crossings(): readonly {
  readonly file: string;
  readonly target: string;
  readonly from: Row;
  readonly to: Row;
}[] {
  return files.flatMap(({ path, imports }) =>
    imports.flatMap((target) => {
      const [from, to] = [rowOf(path), rowOf(target)];
      return from && to && from !== to ? [{ file: path, target, from, to }] : [];
    }),
  );
}

test('every source file belongs to a row of the import table, and every row has files', () => {
  const homeless = files.filter(({ path }) => rowOf(path) === undefined).map(({ path }) => path);
  assert.deepEqual(homeless, [], `${PAGE} has no row for these`);
  const empty = rows.filter((row) => !files.some(({ path }) => rowOf(path) === row)).map(({ place }) => place);
  assert.deepEqual(empty, [], `${PAGE} has rows without a file`);
});

test('a file imports what the row of its folder allows, and nothing else', () => {
  const offences = crossings().filter(({ from, to }) => !from.mayImport.includes(to.place));
  assert.deepEqual(
    offences.map(({ file, target }) => `${file} imports ${target}`),
    [],
  );
});

test('the table allows no import that no file uses', () => {
  const used = new Set(crossings().map(({ from, to }) => `${from.place} → ${to.place}`));
  const unused = rows
    .flatMap(({ place, mayImport }) => mayImport.map((other) => `${place} → ${other}`))
    .filter((pair) => !used.has(pair));
  assert.deepEqual(unused, []);
});

test('a row imports rows above it only, so that the folders have an order', () => {
  const places = rows.map(({ place }) => place);
  const offences = rows.flatMap(({ place, mayImport }, index) =>
    mayImport.filter((other) => !places.slice(0, index).includes(other)).map((other) => `${place} → ${other}`),
  );
  assert.deepEqual(offences, []);
});

test('imports have no cycles, types included', () => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `a cycle: ${[...trail, path].join(' → ')}`);
    if (done.has(path)) return;
    for (const target of byPath.get(path)?.imports ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const file of files) visit(file.path, []);
});

test('the root of src/ has at most nine files, and no folder has more than 22', () => {
  const count = new Map<string, number>();
  for (const { path } of files) count.set(dirname(path), (count.get(dirname(path)) ?? 0) + 1);
  assert.ok((count.get('src') ?? 0) <= 9, `src/ holds ${count.get('src')} files`);
  const full = [...count].filter(([, files]) => files > 22).map(([folder, files]) => `${folder} holds ${files}`);
  assert.deepEqual(full, []);
});

test('each unit test is at the path of its source file, and has its name', () => {
  const tests = globSync('test/unit/**/*.test.ts', { cwd: ROOT }).map(normalize);
  assert.ok(tests.length > 100, 'the unit tests were not found');
  const names = new Set(files.map(({ path }) => path.replace(/(\.d)?\.ts$/, '')));
  const strays = tests.filter((path) => {
    const mirrored = path.replace(/^test\/unit\/(?!adapters\/)/, 'src/').replace(/^test\/unit\//, '');
    return !prefixesOf(mirrored.replace(/\.test\.ts$/, '')).some((prefix) => names.has(prefix));
  });
  assert.deepEqual(strays, []);
});

/** `a/lane-order` → `a/lane-order`, `a/lane`: what comes behind a file's name says which of its sides is tested. */
function prefixesOf(path: string): readonly string[] {
  const parts = basename(path).split('-');
  return parts.map((_, index) => join(dirname(path), parts.slice(0, parts.length - index).join('-')));
}
/** What reads a clock, sets a timer or draws a number. */
const TIME_AND_CHANCE =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bAbortSignal\.timeout\b|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\brandomInt\b|\bgetRandomValues\b|\bgenerateKey|\bhrtime\b|\btimers\/promises\b|\basyncScheduler\b/;

test('only src/time/system.ts, src/time/machine-clock.ts and src/time/fair-queue.ts read clocks, set timers or draw random numbers', () => {
  const offences = files.flatMap((file) =>
    ['src/time/system.ts', 'src/time/machine-clock.ts', 'src/time/fair-queue.ts'].includes(file.path)
      ? []
      : codeLines(file)
          .filter(([, line]) => TIME_AND_CHANCE.test(line))
          .map(([number, line]) => `${file.path}:${number} ${line.trim()}`),
  );
  assert.deepEqual(offences, []);
});

test('only cli.ts and main.ts use argv, the environment and process.exit', () => {
  const offences = files.flatMap((file) =>
    ['src/cli.ts', 'src/main.ts'].includes(file.path)
      ? []
      : codeLines(file)
          .filter(([, line]) => /process\.(argv|env|exit)\b/.test(line))
          .map(([number, line]) => `${file.path}:${number} ${line.trim()}`),
  );
  assert.deepEqual(offences, []);
});

test('only the verbs import the list of adapters', () => {
  const offences = files.filter(
    (file) => file.imports.includes('adapters/index.ts') && !/^src\/verbs\//.test(file.path),
  );
  assert.deepEqual(
    offences.map((file) => file.path),
    [],
  );
});

/** Lines with their comments cut, so that prose may name what code may not use. */
function codeLines(file: SourceFile): [number: number, line: string][] {
  const code = file.text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  return code.split('\n').map((line, index) => [index + 1, line.replace(/(^|\s)\/\/.*$/, '')]);
}
