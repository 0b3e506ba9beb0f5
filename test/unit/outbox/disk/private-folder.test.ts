// The store beside other users → files closed to them, links not followed, open folders refused.
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { folderWarning } from '../../../../src/outbox/disk/private-folder.ts';
import { openOutbox } from '../../../../src/outbox/outbox.ts';
import { append, entry, sharedFolder, temporaryFolder, testStore } from '../../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const NOBODY = 65_534;
/** Why no file can be another user's; false where it can. */
const noOtherUser = process.getuid?.() !== 0 ? 'only root may give files to another user' : false;
const noModes = process.getuid === undefined ? 'files have no modes here' : false;

const modes = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, (lstatSync(join(folder, name)).mode & 0o7777).toString(8)]),
  );

const WHOLE = {
  'lock.db': '600',
  'lock.db-journal': '600',
  'outbox.db': '600',
  'outbox.db-shm': '600',
  'outbox.db-wal': '600',
  'run.pid': '600',
};

function withUmask(t: TestContext, mask: number): void {
  const before = process.umask(mask);
  t.after(() => process.umask(before));
}

for (const mask of [0, 0o022, 0o077, 0o277, 0o777]) {
  test(`with umask ${mask.toString(8)} the store is 0700 and each of its files 0600`, { skip: noModes }, (t) => {
    const folder = join(temporaryFolder(t), 'store');
    withUmask(t, mask);
    const store = testStore(t, { folder });
    append(store, [entry('a:1')]);
    assert.deepEqual(modes(folder), WHOLE);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    const aside = store.outbox.setAside('another VM');
    assert.deepEqual(modes(aside), { 'outbox.db': '600', 'reason.txt': '600' });
    assert.deepEqual(modes(folder), { ...WHOLE, [basename(aside)]: '700' });
  });
}

test('files that an earlier release left open are restricted at the start, and nothing else is changed', {
  skip: noModes,
}, (t) => {
  const folder = sharedFolder(t);
  const first = testStore(t, { folder });
  const aside = first.outbox.setAside('another VM');
  first.outbox.close();
  for (const name of ['outbox.db', 'lock.db']) chmodSync(join(folder, name), 0o666);
  chmodSync(aside, 0o755);
  writeFileSync(join(folder, 'notes.txt'), 'mine', { mode: 0o644 });
  chmodSync(join(folder, 'notes.txt'), 0o644);
  testStore(t, { folder });
  assert.deepEqual(modes(folder), { ...WHOLE, [basename(aside)]: '700', 'notes.txt': '644' });
});

for (const name of [
  'lock.db',
  'lock.db-journal',
  'run.pid',
  'outbox.db',
  'outbox.db-wal',
  'outbox.db-shm',
  'outbox.db.new',
]) {
  test(`a link instead of ${name} is rejected and not followed`, { skip: noModes }, (t) => {
    const folder = join(temporaryFolder(t), 'store');
    const { outbox, time } = testStore(t, { folder });
    outbox.close();
    const target = join(temporaryFolder(t), 'target');
    writeFileSync(target, 'precious');
    for (const to of [target, join(folder, 'nowhere')]) {
      rmSync(join(folder, name), { force: true });
      symlinkSync(to, join(folder, name));
      for (const lock of [true, false]) {
        assert.throws(() => openOutbox(folder, { deps: time, lock }), {
          code: 'BRIDGE_STORE_UNSAFE',
          message: `the store ${join(folder, name)} is a link, which the bridge does not follow: remove it`,
        });
      }
    }
    assert.equal(readFileSync(target, 'utf8'), 'precious');
    assert.ok(!readdirSync(folder).includes('nowhere'));
  });
}

test('the folder itself may be a link, to a larger disk for instance', { skip: noModes }, (t) => {
  const [disk, folder] = [temporaryFolder(t), join(temporaryFolder(t), 'store')];
  symlinkSync(disk, folder);
  testStore(t, { folder });
  assert.deepEqual(modes(disk), WHOLE);
});

test('a file of another user instead of a store file is rejected', { skip: noOtherUser }, (t) => {
  const folder = sharedFolder(t);
  writeFileSync(join(folder, 'lock.db'), '');
  chownSync(join(folder, 'lock.db'), NOBODY, NOBODY);
  assert.throws(() => openOutbox(folder, { deps: new VirtualTime(), lock: true }), {
    code: 'BRIDGE_STORE_UNSAFE',
    message: new RegExp(`${folder}/lock\\.db belongs to another user \\(${NOBODY}\\)`),
  });
  // A folder and its store may be another user's together: an administrator runs a verb beside the service.
  chownSync(folder, NOBODY, NOBODY);
  openOutbox(folder, { deps: new VirtualTime(), lock: true }).close();
});

for (const mode of [0o777, 0o1777, 0o2777]) {
  test(`a folder of mode ${mode.toString(8)} is rejected, and a folder inside it is accepted`, {
    skip: noModes,
  }, (t) => {
    const folder = sharedFolder(t, mode);
    for (const lock of [true, false]) {
      assert.throws(() => openOutbox(folder, { deps: new VirtualTime(), lock }), {
        code: 'BRIDGE_STORE_UNSAFE',
        message: /may be written to by everybody.*set its mode to 0700, or set the path to a new folder inside it/,
      });
    }
    assert.deepEqual(readdirSync(folder), []);
    openOutbox(join(folder, 'own'), { deps: new VirtualTime(), lock: true }).close();
    assert.match(String(folderWarning(folder)), /by everybody/);
    const isSticky = (mode & 0o1000) !== 0;
    assert.equal(folderWarning(join(folder, 'own'))?.startsWith('is in a world-writable folder') ?? false, !isSticky);
  });
}

test('a folder that a group may write to is accepted with a warning', { skip: noOtherUser }, (t) => {
  const folder = sharedFolder(t);
  assert.equal(folderWarning(folder), null);
  chownSync(folder, 0, NOBODY);
  chmodSync(folder, 0o2775);
  openOutbox(folder, { deps: new VirtualTime(), lock: true }).close();
  assert.match(String(folderWarning(folder)), /by the group 65534/);
});

test('a folder that is missing, or at which this user may not look, causes no warning', (t) => {
  const folder = temporaryFolder(t);
  assert.equal(folderWarning(join(folder, 'none')), null);
  symlinkSync(join(folder, 'loop'), join(folder, 'loop'));
  assert.equal(folderWarning(join(folder, 'loop')), null);
});
