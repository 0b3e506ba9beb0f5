// Patterns of test files → all of them in one run, the slowest first; exits with 1 if one fails.
// `--tier quick|long` runs only the files of this tier. `--broker` starts one Kafka broker for all files.
// RETRY_FAILED=1 runs files that failed once more, alone, and counts only their second result; for CI on busy machines.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from './far-sides/kafka/global-setup.ts';
import { runOrder } from './run-order.ts';
import { TIERS, tierOf } from './tiers.ts';

/** Processes at a time. With two processors, because most tests wait now and then. */
const AT_ONCE = 4;
/** The short profile of `npm run proof` takes 4 minutes on two idle cores, and three files run beside it. */
const TIMEOUT_MS = { quick: 120_000, long: 900_000 } as const;
/** If more files failed, the fault is not the busy machine. */
const MOST_RETRIED = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { broker: { type: 'boolean', default: false }, tier: { type: 'string' } },
});
const tier = TIERS.find((each) => each === values.tier);
if (values.tier !== undefined && tier === undefined) throw new Error(`--tier takes one of ${TIERS.join(', ')}.`);
const files = [...new Set(globSync(positionals))]
  .map((file) => file.replaceAll(sep, '/'))
  .filter((file) => tier === undefined || tierOf(file) === tier)
  .sort();
if (files.length === 0) throw new Error('No test file matches.');
const { longest, shared, rest } = runOrder(files);
const folder = mkdtempSync(join(tmpdir(), 'bridge-test-run-'));
if (values.broker) globalSetup();
try {
  const failed = await runAll([...longest, ...shared.map(together), ...rest], AT_ONCE);
  const isRetried = process.env['RETRY_FAILED'] === '1' && failed.length <= MOST_RETRIED;
  for (const file of failed) {
    if (isRetried) process.stdout.write(`${file} failed, and runs once more, alone:\n`);
    if (!isRetried || (await runAll([file], 1)).length > 0) process.exitCode = 1;
  }
} finally {
  if (values.broker) await globalTeardown();
  rmSync(folder, { recursive: true });
}

/** Returns the files with a failure, each once. */
async function runAll(paths: readonly string[], concurrency: number): Promise<readonly string[]> {
  const failed = new Set<string>();
  const events = run({ files: [...paths], concurrency, timeout: TIMEOUT_MS[tier ?? 'long'] });
  events.on('test:fail', ({ file, todo }) => {
    if (file !== undefined && todo === undefined) failed.add(relative('.', file).replaceAll(sep, '/'));
  });
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined && !success && failed.size === 0) process.exitCode = 1;
  });
  await pipeline(events, new spec(), process.stdout, { end: false });
  return [...failed];
}

/** Writes a test file that imports these. The name of a failing test's own file is reported all the same. */
function together(share: readonly string[], index: number): string {
  const path = join(folder, `together-${index + 1}.test.mjs`);
  const lines = share.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`);
  writeFileSync(path, lines.join(''));
  return path;
}
