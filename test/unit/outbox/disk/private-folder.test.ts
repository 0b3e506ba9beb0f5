// The store beside other users → files closed to them, links not followed, open folders refused.
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { createPrivateFile, folderWarning } from '../../../../src/outbox/disk/private-folder.ts';
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

/** As this user, or on a system without users of files. The system itself still sees the real one. */
function actAs(t: TestContext, user: number | undefined): void {
  const before = process.geteuid;
  t.after(() => Object.assign(process, { geteuid: before }));
  Object.assign(process, { geteuid: user === undefined ? undefined : () => user });
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

test('a folder instead of a store file is rejected', { skip: noModes }, (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'outbox.db'));
  assert.throws(() => openOutbox(folder, { deps: new VirtualTime(), lock: true }), {
    code: 'BRIDGE_STORE_UNSAFE',
    message: `the store ${join(folder, 'outbox.db')} is not a file: remove it`,
  });
});

test('files and folders with similar names are neither checked nor changed', { skip: noModes }, (t) => {
  const folder = sharedFolder(t);
  for (const name of ['old-outbox.db', 'outbox.db.bak', 'my-run.pid', 'run.pid.old'])
    symlinkSync('/nowhere', join(folder, name));
  for (const name of ['no-set-aside-1', 'other']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'set-aside-notes'), '');
  for (const name of ['no-set-aside-1', 'other', 'set-aside-notes']) chmodSync(join(folder, name), 0o755);
  const before = modes(folder);
  testStore(t, { folder });
  assert.deepEqual(modes(folder), { ...WHOLE, ...before });
});

test('a path that is a file, or that leads nowhere, is an error of the store', (t) => {
  const folder = temporaryFolder(t);
  const [file, loop] = [join(folder, 'file'), join(folder, 'loop')];
  writeFileSync(file, '');
  symlinkSync(loop, loop);
  const open = (path: string) => () => openOutbox(path, { deps: new VirtualTime(), lock: false });
  const code = 'BRIDGE_STORE_FAILED';
  assert.throws(open(file), { code, message: new RegExp(`^the store ${file}/outbox\\.db .*ENOTDIR`) });
  assert.throws(open(loop), { code, message: new RegExp(`^the store ${loop} .*ELOOP`) });
});

test('a private file has its text, is left as it is if it exists, and is closed', (t) => {
  const path = join(temporaryFolder(t), 'file');
  const open = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let each = 0; each < 20; each++) createPrivateFile(`${path}-${each}`);
  assert.ok(open() < before + 10, 'no file is left open');
  createPrivateFile(path, 'text');
  assert.throws(() => createPrivateFile(path, 'other'), { code: 'EEXIST' });
  assert.equal(readFileSync(path, 'utf8'), 'text');
});

test('on a system without users of files, nothing is rejected, restricted or warned of', (t) => {
  const folder = sharedFolder(t, 0o777);
  for (const name of ['lock.db', 'run.pid']) symlinkSync(join(folder, `no-${name}`), join(folder, name));
  rmSync(join(folder, 'lock.db'));
  writeFileSync(join(folder, 'lock.db'), '');
  chmodSync(join(folder, 'lock.db'), 0o666);
  actAs(t, undefined);
  openOutbox(folder, { deps: new VirtualTime(), lock: true }).close();
  assert.equal(statSync(join(folder, 'lock.db')).mode & 0o777, 0o666);
  assert.equal(folderWarning(folder), null);
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

test('a folder of another user, or of a group that may write to it, causes a warning', { skip: noOtherUser }, (t) => {
  const folder = sharedFolder(t);
  const warning = (uid: number, gid: number, mode: number) => {
    chownSync(folder, uid, gid);
    chmodSync(folder, mode);
    return folderWarning(folder);
  };
  const group = process.getegid?.() ?? 0;
  const advice =
    'set its mode to 0700, or set the path to a new folder inside it, which the bridge then creates with that mode';
  const ofGroup = `may be written to by the group ${NOBODY}, so its members could remove or replace the store: ${advice}`;
  const ofUser = `belongs to another user (${NOBODY}), who could replace the store: ${advice}`;
  const ofAll = `may be written to by everybody on this machine, so any user could remove or change the store: ${advice}`;
  assert.deepEqual(
    [warning(0, group, 0o775), warning(0, NOBODY, 0o755), warning(0, NOBODY, 0o775), warning(NOBODY, group, 0o755)],
    [null, null, ofGroup, null],
    'root may write everywhere',
  );
  actAs(t, 1000);
  assert.deepEqual(
    [warning(0, group, 0o755), warning(1000, group, 0o755), warning(NOBODY, group, 0o755), warning(1000, group, 0o777)],
    [null, null, ofUser, ofAll],
  );
  assert.equal(folderWarning(join(folder, 'own')), null, 'no folder yet');
  mkdirSync(join(folder, 'own'));
  chownSync(join(folder, 'own'), 1000, group);
  assert.equal(
    folderWarning(join(folder, 'own')),
    `is in a world-writable folder, so any user could replace the store: remove that right from ${folder}`,
  );
});

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
