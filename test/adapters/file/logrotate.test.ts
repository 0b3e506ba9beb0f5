// The real logrotate over a file that is being written → every accepted line whole and once.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { logrotateIn, withoutLogrotate } from '../../far-sides/file/logrotate.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { deliverMeanwhile, idsIn } from './steady-load.ts';

const ROTATIONS = 7;

/** Rotates again and again under a load. */
async function rotateUnderLoad(t: TestContext, instead: Readonly<Record<string, string>>) {
  const folder = folderOf(t);
  const logs = join(folder, 'logs');
  mkdirSync(logs, { mode: 0o755 });
  const path = join(logs, 'events.ndjson');
  const logrotate = logrotateIn(folder, logs, instead);
  const accepted = await deliverMeanwhile({ path }, async () => {
    for (let rotation = 0; rotation < ROTATIONS; rotation++) {
      await poll(() => existsSync(path) && readFileSync(path).length > 4096, 'some lines');
      await logrotate.rotate();
    }
    await poll(() => existsSync(path), 'the file to be made again');
  });
  return { logs, accepted };
}

test('as shipped, logrotate moves and compresses the file under load: each accepted line is there once, in order', {
  skip: withoutLogrotate,
}, async (t) => {
  const { logs, accepted } = await rotateUnderLoad(t, {});
  assert.deepEqual(idsIn(logs), accepted);
  const names = readdirSync(logs);
  assert.equal(names.length, ROTATIONS + 1);
  assert.ok(names.includes('events.ndjson.2.gz'), names.join());
});

test('with `create` nothing is lost either', { skip: withoutLogrotate }, async (t) => {
  const { logs, accepted } = await rotateUnderLoad(t, { nocreate: 'create 0640' });
  assert.deepEqual([...idsIn(logs)].sort(), [...accepted].sort());
});

test('after copytruncate the file continues without a gap, and every line is complete', {
  skip: withoutLogrotate,
}, async (t) => {
  const { logs, accepted } = await rotateUnderLoad(t, { nocreate: 'copytruncate' });
  const found = idsIn(logs);
  const known = new Set(accepted);
  assert.ok(found.every((id) => known.has(id)));
  assert.equal(new Set(found).size, found.length);
  t.diagnostic(
    `${accepted.length - found.length} of ${accepted.length} lines were appended between a copy and its cut, and are gone`,
  );
});
