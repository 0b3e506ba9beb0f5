// makeLean of src/cli.ts in processes of their own: the nursery stays small, and a user's own flags stand.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const MODULE = new URL('../../../src/cli.ts', import.meta.url).href;

/** How large V8's nursery gets, in MB, while as much is kept as makes it grow. */
function nurseryMb(before: string): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { makeLean } from ${JSON.stringify(MODULE)};
    ${before};
    const kept = [];
    let most = 0;
    for (let n = 0; n < 400_000; n++) {
      kept.push({ n });
      if (n % 10_000 === 0) most = Math.max(most, getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
    }
    console.log(most / 2 ** 20, kept.length);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env: {} });
  const size = Number.parseFloat(stdout);
  assert.ok(size > 0, stderr);
  return size;
}

test('a Node without flags of its own keeps a small nursery, where another grows it', () => {
  const lean = nurseryMb('makeLean([], undefined)');
  const usual = nurseryMb('');
  assert.ok(lean * 3 < usual, `${lean} MB beside ${usual} MB`);
});

test('flags of the user stand: nothing is changed beside them', () => {
  const lean = nurseryMb('makeLean([], undefined)');
  for (const own of ["makeLean(['--max-semi-space-size=64'], undefined)", "makeLean([], '--max-old-space-size=512')"])
    assert.ok(nurseryMb(own) > lean * 3, own);
});
