// The source files → the rules of the house: imports point one way, no cycles, time and chance come in at one place, first lines tell.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Paths from the root of our own modules it imports, types included. */
  readonly imports: readonly string[];
  /** The same without `import type`. */
  readonly runtimeImports: readonly string[];
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;

function read(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const imports: string[] = [];
  const runtimeImports: string[] = [];
  for (const [, type, fromPath, dynamicPath] of text.matchAll(IMPORT)) {
    const target = normalize(join(dirname(path), (fromPath ?? dynamicPath) as string));
    imports.push(target);
    if (!type) runtimeImports.push(target);
  }
  return { path, text, imports, runtimeImports };
}

const files = globSync(['src/**/*.ts', 'adapters/**/*.ts'], { cwd: ROOT })
  .map((path) => read(normalize(path)))
  .sort((a, b) => (a.path < b.path ? -1 : 1));

/** The files beside model: nouns, text formats and the clocks' types, which every part may import. */
const NOUNS = [
  'model',
  'approval',
  'caller',
  'errors',
  'time',
  'turn',
  'durations',
  'sizes',
  'dates',
  'options',
  'secret',
  'certificates',
  'tls-options',
  'tls-files',
  'watched-files',
  'regular-file',
  'file-exposure',
  'bearer-token',
  'azure-options',
  'azure-credential',
  'azure-fault',
  'azure-identity',
  'webhook-secret',
  'visible-text',
  'content',
  'worse',
  'event-matchers',
  'cloud-event-body',
  'change-name',
  'ids',
  'canonical-json',
  'json-object',
  'near-misses',
  'api-versions',
  'private-addresses',
  'own-host',
  'checked-lookup',
  'proxy-url',
  'http-connect',
  'network-codes',
  'tls-advice',
];
/** Folders of such files, while the house is being moved. */
const FOUNDATIONS = ['formats', 'model', 'time', 'secrets', 'schema', 'net', 'azure', 'auth'];
const STAGES = ['metadata', 'changes', 'cloudevents', 'outbox', 'delivery', 'approvals'];
/** Which layer may import which others, besides itself and the nouns. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  nouns: [],
  metadata: [],
  changes: [],
  cloudevents: [],
  outbox: [],
  delivery: ['contract'],
  approvals: ['contract'],
  /** Checks a file against a schema, for whoever reads files. */
  validation: [],
  config: ['contract', 'validation'],
  http: [],
  telemetry: [],
  simulator: ['validation'],
  /** src/simulator.ts, which gives the simulator the machine's clocks for tests of other projects. */
  'simulator.ts': ['simulator', 'validation', 'system'],
  /** For those who receive and approve: no bundle of it holds a library. */
  consumer: [],
  /** src/consumer.ts, which gives the consumer's library the machine's clock. */
  'consumer.ts': ['consumer', 'clock'],
  contract: [],
  adapter: ['contract', 'cloudevents'],
  adapters: ['contract', 'adapter'],
  clock: [],
  system: ['clock'],
  pipeline: STAGES,
  /** The parts that bridge.ts composes of several stages; the root is the one that may import them all. */
  bridge: [...STAGES, 'pipeline', 'config', 'http', 'telemetry', 'contract'],
  demo: ['bridge', 'consumer.ts', 'simulator', 'config', 'validation', 'telemetry', 'adapters', 'contract'],
  verbs: [...STAGES, 'bridge', 'demo', 'consumer.ts', 'simulator', 'config', 'validation', 'telemetry', 'contract', 'adapters'],
  cli: ['verbs', 'system'],
  main: ['cli'],
};

function layerOf(path: string): string {
  const [top, second, third] = path.split('/') as [string, string, string | undefined];
  if (top === 'package.json') return 'nouns';
  if (top === 'adapters') return second === 'adapter.ts' ? 'contract' : third === undefined ? 'adapters' : 'adapter';
  if (third !== undefined) return FOUNDATIONS.includes(second) ? 'nouns' : second;
  if (second === 'simulator.ts' || second === 'consumer.ts') return second;
  const name = second.replace(/\.ts$/, '');
  return NOUNS.includes(name) ? 'nouns' : name;
}

test('imports point one way: cli → bridge → pipeline → the stages → model and errors', () => {
  const offences: string[] = [];
  for (const file of files) {
    const layer = layerOf(file.path);
    const allowed = MAY_IMPORT[layer];
    assert.ok(allowed, `${file.path} belongs to no layer that this test knows: "${layer}"`);
    for (const target of file.imports) {
      const other = layerOf(target);
      if (other !== layer && other !== 'nouns' && !allowed.includes(other))
        offences.push(`${file.path} (${layer}) imports ${target} (${other})`);
    }
  }
  assert.deepEqual(offences, []);
});

test('an adapter imports no other adapter', () => {
  const offences = files.flatMap((file) =>
    layerOf(file.path) === 'adapter'
      ? file.imports
          .filter((target) => layerOf(target) === 'adapter' && target.split('/')[1] !== file.path.split('/')[1])
          .map((target) => `${file.path} imports ${target}`)
      : [],
  );
  assert.deepEqual(offences, []);
});

test('no file imports itself by a round trip', () => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `a cycle: ${[...trail, path].join(' → ')}`);
    if (done.has(path)) return;
    for (const target of byPath.get(path)?.runtimeImports ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const file of files) visit(file.path, []);
});

/** What reads a clock, sets a timer or draws a number. */
const TIME_AND_CHANCE =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bAbortSignal\.timeout\b|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\brandomInt\b|\bgetRandomValues\b|\bgenerateKey|\bhrtime\b|\btimers\/promises\b|\basyncScheduler\b/;

test('time and chance come in at one place, src/time/system.ts, and src/time/machine-clock.ts which it shares with the library without RxJS; src/time/turn.ts reads no clock', () => {
  const offences = files.flatMap((file) =>
    ['src/time/system.ts', 'src/time/machine-clock.ts', 'src/time/turn.ts'].includes(file.path)
      ? []
      : codeLines(file)
          .filter(([, line]) => TIME_AND_CHANCE.test(line))
          .map(([number, line]) => `${file.path}:${number} ${line.trim()}`),
  );
  assert.deepEqual(offences, []);
});

test('argv, the environment and the way out belong to cli.ts', () => {
  const offences = files.flatMap((file) =>
    ['src/cli.ts', 'src/main.ts'].includes(file.path)
      ? []
      : codeLines(file)
          .filter(([, line]) => /process\.(argv|env|exit)\b/.test(line))
          .map(([number, line]) => `${file.path}:${number} ${line.trim()}`),
  );
  assert.deepEqual(offences, []);
});

test('only the verbs and the demo see the list of adapters', () => {
  const offences = files.filter((file) => file.imports.includes('adapters/index.ts') && !/^src\/(demo\.ts|verbs\/)/.test(file.path));
  assert.deepEqual(
    offences.map((file) => file.path),
    [],
  );
});

test('the first line of each file is a comment that tells what comes in and what goes out', () => {
  const silent = files.filter((file) => !/^\/\/ .{20,}/.test(file.text.replace(/^#!.*\n/, '')));
  assert.deepEqual(
    silent.map((file) => file.path),
    [],
  );
});

/** Lines with their comments cut, so that prose may name what code may not use. */
function codeLines(file: SourceFile): [number: number, line: string][] {
  const code = file.text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  return code.split('\n').map((line, index) => [index + 1, line.replace(/(^|\s)\/\/.*$/, '')]);
}
