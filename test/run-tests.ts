// Patterns of test files → all of them in one run, the longest first; exits with 1 where one fails.
// `--broker` starts the one Kafka broker that all of them share.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from './far-sides/kafka/global-setup.ts';
import { runOrder } from './run-order.ts';

/** Of processes, on two processors: most tests wait for something now and then. */
const AT_ONCE = 4;
const TIMEOUT_MS = 120_000;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { broker: { type: 'boolean', default: false } } });
const files = [...new Set(globSync(positionals))].map((file) => file.replaceAll(sep, '/')).sort();
if (files.length === 0) throw new Error('No test file has such a name.');
const { longest, shared, rest } = runOrder(files);
const folder = mkdtempSync(join(tmpdir(), 'bridge-test-run-'));
if (values.broker) globalSetup();
try {
  const events = run({ files: [...longest, ...shared.map(together), ...rest], concurrency: AT_ONCE, timeout: TIMEOUT_MS });
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1;
  });
  await pipeline(events, new spec(), process.stdout, { end: false });
} finally {
  if (values.broker) await globalTeardown();
  rmSync(folder, { recursive: true });
}

/** A test file that imports these. What fails is told with the file where it stands all the same. */
function together(share: readonly string[], index: number): string {
  const path = join(folder, `together-${index + 1}.test.mjs`);
  const lines = share.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`);
  writeFileSync(path, lines.join(''));
  return path;
}
