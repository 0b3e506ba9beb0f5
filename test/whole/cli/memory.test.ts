// `run` under a Node without flags → V8's nursery stays small, unless the user gave flags.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { run } from '../../support/program.ts';

const MAIN = new URL('../../../dist/main.js', import.meta.url);

/**
 * Runs the command to its end, which comes soon, then keeps as much as makes the nursery grow, and tells how large it
 * got.
 */
const SCRIPT = `
  import { writeSync } from 'node:fs';
  import { getHeapSpaceStatistics } from 'node:v8';
  process.on('exit', () => {
    const kept = [];
    let most = 0;
    for (let n = 0; n < 400_000; n++) {
      kept.push({ n });
      if (n % 10_000 === 0) most = Math.max(most, getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
    }
    writeSync(1, '\\n' + most / 2 ** 20 + ' MB of ' + kept.length);
  });
  await import(${JSON.stringify(MAIN.href)});`;

async function nurseryMb(t: TestContext, verb: string, { flag = '', nodeOptions = '' } = {}): Promise<number> {
  const script = join(folderOf(t), 'measured.mjs');
  writeFileSync(script, SCRIPT);
  const words = [...(flag ? [flag] : []), script, verb, '--config', join(folderOf(t), 'missing.yaml')];
  const [main = '', ...args] = words;
  const { stdout, stderr } = await run(t, args, { main, env: { NODE_OPTIONS: nodeOptions } });
  const [, size] = /^(\S+) MB of 400000$/m.exec(stdout) ?? assert.fail(stderr);
  return Number(size);
}

test('the nursery of run does not grow, that of another verb does', async (t) => {
  const lean = await nurseryMb(t, 'run');
  const usual = await nurseryMb(t, 'check');
  assert.ok(lean * 3 < usual, `${lean} MB beside ${usual} MB`);
});

test("a user's own flags stay, and nothing else is changed", async (t) => {
  const lean = await nurseryMb(t, 'run');
  assert.ok((await nurseryMb(t, 'run', { flag: '--max-semi-space-size=64' })) > lean * 3);
  assert.ok((await nurseryMb(t, 'run', { nodeOptions: '--max-old-space-size=512' })) > lean * 3);
});
