// The store beside another user of the machine → files that this user cannot open.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { sharedFolder, testStore } from '../../virtual/outbox-fixture.ts';

const NOBODY = 65_534;
/** Why another user cannot be tried; false where it can. */
const noOtherUser =
  process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).status !== 0
    ? 'only root may become another user, by setpriv'
    : false;

test('another user can open no file of the store, and so cannot hold its lock', { skip: noOtherUser }, (t) => {
  const folder = sharedFolder(t);
  const { time, outbox } = testStore(t, { folder });
  writeFileSync(join(folder, 'control'), 'open', { mode: 0o644 });
  const readable = (name: string) =>
    spawnSync('setpriv', ['--reuid', String(NOBODY), '--clear-groups', 'cat', join(folder, name)]).status === 0;
  assert.deepEqual(readdirSync(folder).filter(readable), ['control']);
  outbox.close();
  openOutbox(folder, { deps: time, lock: true }).close();
});
