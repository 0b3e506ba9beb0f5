// A folder as /proc has it → processes, by any name that they give themselves; this machine's own.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Processes } from '../../../../adapters/command/processes.ts';
import { folderOf } from '../../../support/folder.ts';

test('pid, group and start are read past a name with brackets and blanks; who has ended is no process', async (t) => {
  const root = folderOf(t);
  const rest = '1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0';
  for (const [pid, text] of [
    [7, `7 (a) R (b)) S ${rest}`],
    [8, `8 (gone) Z ${rest}`],
    [9, 'cut off'],
  ] as const) {
    mkdirSync(join(root, String(pid)));
    writeFileSync(join(root, String(pid), 'stat'), text);
  }
  writeFileSync(join(root, '7/environ'), 'A=1\0BRIDGE_RUN=x\0');
  const processes = new Processes(root);
  assert.deepEqual(await processes.all(), [{ pid: 7, group: 7, startedAt: '12345', isZombie: false }]);
  assert.equal((await processes.one(8))?.isZombie, true);
  assert.deepEqual([await processes.one(9), await processes.one(10)], [null, null]);
  assert.deepEqual(
    [await processes.hasVariable(7, 'BRIDGE_RUN=x'), await processes.hasVariable(7, 'BRIDGE_RUN=')],
    [true, false],
  );
  assert.equal(await processes.hasVariable(8, 'A=1'), false);
  assert.equal(await processes.bootId(), null);
});

test('this very process is found', { skip: process.platform === 'linux' ? false : 'there is no /proc' }, async () => {
  const processes = new Processes();
  const own = await processes.one(process.pid);
  assert.equal(own?.pid, process.pid);
  assert.ok((await processes.all()).some(({ pid, startedAt }) => pid === own?.pid && startedAt === own.startedAt));
  assert.match((await processes.bootId()) ?? '', /^[0-9a-f-]{36}$/);
});

test('without such a folder, the result is empty', async () => {
  assert.deepEqual(await new Processes('/no/such/folder').all(), []);
});
