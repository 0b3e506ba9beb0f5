// Full stores, damaged files, impossible folders → clear errors, and nothing half stored.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import type { BridgeError } from '../../../src/errors.ts';
import { damaged, isBusy, startFault, storeError } from '../../../src/outbox/errors.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { append, entry, queuedIds, temporaryFolder, testStore } from '../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const many = (count: number, name = 'e') =>
  Array.from({ length: count }, (_, index) => entry(`${name}${index}:1`, { occurrence: index + 1 }));

test('a store at its maximum size stores nothing partially, and continues when pruning has freed space', (t) => {
  const store = testStore(t, { maxPages: 120 });
  append(store, many(50, 'old'));
  const rows = store.outbox.queue.queued('audit', [], 100);
  store.outbox.queue.settle(
    'audit',
    rows.map(({ seq }) => ({ seq, result: 'accepted' })),
    1,
  );
  assert.throws(() => append(store, many(1000)), { code: 'BRIDGE_STORE_FULL' });
  assert.deepEqual(queuedIds(store.outbox), []);
  assert.equal(store.outbox.journal.isUsed('e0:1'), false);
  while (store.outbox.retention.prune({ retainMs: 1, nowMs: store.time.wallMs() }) > 0);
  append(store, many(50));
  assert.equal(queuedIds(store.outbox).length, 50);
});

/** Opens the damaged store; gives back the error, once it is sure that nothing was replaced. */
function assertDamaged(t: TestContext, damage: (file: string) => void): void {
  const store = testStore(t);
  append(store, many(300));
  store.outbox.close();
  const file = join(store.folder, 'outbox.db');
  damage(file);
  const before = readFileSync(file);
  for (const lock of [true, false]) {
    assert.throws(
      () => {
        using outbox = openOutbox(store.folder, { deps: store.time, lock });
        queuedIds(outbox);
      },
      { code: 'BRIDGE_STORE_DAMAGED', message: new RegExp(`${file} is damaged.*put back a copy`) },
    );
  }
  assert.ok(readFileSync(file).equals(before), 'the file is as it was');
}

test('a store file with other content is damaged, not replaced', (t) => {
  assertDamaged(t, (file) => writeFileSync(file, 'not a database at all. '.repeat(1000)));
});

test('a truncated store file is damaged, not replaced', (t) => {
  assertDamaged(t, (file) => truncateSync(file, statSync(file).size / 2));
});

test('an empty store file is damaged: it never counts as a new store', (t) => {
  assertDamaged(t, (file) => truncateSync(file, 0));
});

test('a store file with garbage in its pages is damaged, not replaced', (t) => {
  assertDamaged(t, (file) => {
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 4096);
    writeFileSync(file, bytes);
  });
});

test('a log without its store file is damage', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'outbox.db-wal'), 'frames');
  assert.throws(() => openOutbox(folder, { deps: new VirtualTime(), lock: true }), {
    code: 'BRIDGE_STORE_DAMAGED',
    message: /outbox\.db is damaged \(it is missing, but its log exists\)/,
  });
});

test('damage that is found later is reported as such', (t) => {
  const store = testStore(t);
  append(store, many(300));
  store.outbox.close();
  const file = join(store.folder, 'outbox.db');
  const database = new DatabaseSync(file);
  const page = database.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'journal'`).get()?.['rootpage'];
  database.close();
  const bytes = readFileSync(file);
  bytes.fill(0xa5, (Number(page) - 1) * 4096, Number(page) * 4096);
  writeFileSync(file, bytes);
  assert.throws(() => openOutbox(store.folder, { deps: store.time, lock: true }), { code: 'BRIDGE_STORE_DAMAGED' });
  using outbox = openOutbox(store.folder, { deps: store.time, lock: false });
  assert.throws(() => append({ ...store, outbox }, [entry('late:1')]), { code: 'BRIDGE_STORE_DAMAGED' });
  assert.throws(() => queuedIds(outbox), { code: 'BRIDGE_STORE_DAMAGED' });
});

test('an unfinished new store is created again, and nothing of it is left', (t) => {
  const folder = temporaryFolder(t);
  for (const suffix of ['', '-wal', '-shm']) writeFileSync(join(folder, `outbox.db.new${suffix}`), 'cut off');
  using outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
  assert.equal(outbox.known.load().lastGoodAt !== null, false);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('outbox.db.new')),
    [],
  );
});

test('only the owner can access a new folder, and the store in a folder that is open to others', (t) => {
  const { folder, outbox } = testStore(t);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  outbox.close();
  const open = temporaryFolder(t);
  chmodSync(open, 0o755);
  testStore(t, { folder: open });
  for (const name of ['outbox.db', 'outbox.db-wal']) assert.equal(statSync(join(open, name)).mode & 0o777, 0o600, name);
});

test('a folder that cannot be created is a clear error', (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  assert.throws(() => openOutbox(join(file, 'store'), { deps: new VirtualTime(), lock: true }), {
    code: 'BRIDGE_STORE_FAILED',
    message: new RegExp(`${file}/store cannot be read or written.*permissions`),
  });
});

test('a store that another process has locked is a clear error', () => {
  const busy = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
  assert.match(String(storeError(busy, '/x/outbox.db')), /another process keeps the store \/x\/outbox.db locked/);
});

test('errors of the file system and of SQLite get the code that says what to do', () => {
  const sqlite = (errcode: number) => Object.assign(new Error('sqlite'), { code: 'ERR_SQLITE_ERROR', errcode });
  const system = (code: string) => Object.assign(new Error(code), { code, syscall: 'write' });
  const codeOf = (error: unknown): unknown => (storeError(error, 'file') as { code?: string }).code;
  assert.equal(codeOf(sqlite(13)), 'BRIDGE_STORE_FULL');
  assert.equal(codeOf(sqlite(4874)), 'BRIDGE_STORE_FULL');
  assert.equal(codeOf(system('ENOSPC')), 'BRIDGE_STORE_FULL');
  assert.equal(codeOf(system('EDQUOT')), 'BRIDGE_STORE_FULL');
  assert.equal(codeOf(sqlite(10 | (3 << 8))), 'BRIDGE_STORE_FAILED');
  assert.equal(codeOf(system('EIO')), 'BRIDGE_STORE_FAILED');
  assert.equal(codeOf(sqlite(11 | (1 << 8))), 'BRIDGE_STORE_DAMAGED');
  assert.equal(codeOf(sqlite(26)), 'BRIDGE_STORE_DAMAGED');
  const foreign = new TypeError('not ours to judge');
  assert.equal(storeError(foreign, 'file'), foreign);
});

test('each error of the disk and of SQLite says what failed and what to do, with its cause', (t) => {
  const sqlite = (errcode: number) => Object.assign(new Error('words'), { code: 'ERR_SQLITE_ERROR', errcode });
  const system = (code: string) => Object.assign(new Error('words'), { code, syscall: 'write' });
  const file = join(temporaryFolder(t), 'outbox.db');
  const again = '; nothing was stored. Free some space; a running bridge then continues by itself';
  const locked = `another process keeps the store ${file} locked; stop it, or wait until it has finished`;
  const unable = `the store ${file} cannot be read or written (words). Check its disk, owner and permissions`;
  const right = "grant the right, run this as the bridge's user, or set store.path to another folder";
  for (const [error, code, message] of [
    [sqlite(13), 'BRIDGE_STORE_FULL', `the disk of the store ${file} is full, or store.maxSize is reached${again}`],
    [system('ENOSPC'), 'BRIDGE_STORE_FULL', `the disk of the store ${file} is full${again}`],
    [sqlite(5), 'BRIDGE_STORE_FAILED', locked],
    [sqlite(6), 'BRIDGE_STORE_FAILED', locked],
    [sqlite(19), 'BRIDGE_INTERNAL', `the store ${file} rejected a row: words`],
    [
      sqlite(11),
      'BRIDGE_STORE_DAMAGED',
      `the store file ${file} is damaged (words). Stop the bridge and put back a copy of its folder, or move the folder away to start with an empty store; the bridge then does not deliver the CloudEvents queued in it`,
    ],
    [sqlite(10), 'BRIDGE_STORE_FAILED', unable],
    [system('EIO'), 'BRIDGE_STORE_FAILED', unable],
    [system('EACCES'), 'BRIDGE_STORE_FAILED', `this user may not open or write the store ${file} (EACCES): ${right}`],
    [system('EPERM'), 'BRIDGE_STORE_FAILED', `this user may not open or write the store ${file} (EPERM): ${right}`],
  ] as const) {
    const wrapped = storeError(error, file) as BridgeError;
    assert.deepEqual([wrapped.code, wrapped.message], [code, message]);
    assert.equal(wrapped.cause, error);
  }
  const gone = storeError(sqlite(13), join(file, 'gone', 'outbox.db')) as BridgeError;
  assert.match(gone.message, /is full, or store\.maxSize is reached/, 'it is not known how full the disk is');
  // A file system without any free space.
  if (existsSync('/proc/self'))
    assert.equal(
      (storeError(sqlite(13), '/proc/x') as BridgeError).message,
      `the disk of the store /proc/x is full${again}`,
    );
});

test('only errors of SQLite and the file system are wrapped', () => {
  for (const foreign of [
    Object.assign(new Error('x'), { code: 'ERR_OTHER' }),
    new Error('x'),
    'words',
    null,
    undefined,
  ])
    assert.equal(storeError(foreign, 'file'), foreign);
});

test('a lock of another connection is recognized, also in the error that wraps it', () => {
  const sqlite = (errcode: unknown) => Object.assign(new Error('words'), { code: 'ERR_SQLITE_ERROR', errcode });
  for (const errcode of [5, 6, 5 | (1 << 8), 6 | (1 << 8)]) {
    assert.equal(isBusy(sqlite(errcode)), true, String(errcode));
    assert.equal(isBusy(storeError(sqlite(errcode), 'file')), true, `wrapped ${errcode}`);
  }
  const others = [sqlite(10), sqlite('5'), storeError(sqlite(11), 'file'), { errcode: 5 }, new Error('x'), null];
  for (const other of others) assert.equal(isBusy(other), false);
});

test('near store.maxSize nothing more is stored, outcomes still are, and pruned space is used again', (t) => {
  const maxBytes = 1_048_576;
  const store = testStore(t, { maxBytes });
  assert.equal(store.outbox.usage().maxBytes, maxBytes);
  let count = 0;
  assert.throws(
    () => {
      for (; ; count++) append(store, [entry(`a:${count}`, { timeMs: 1, data: { text: 'x'.repeat(4000) } })]);
    },
    {
      code: 'BRIDGE_STORE_FULL',
      message: `the store ${join(store.folder, 'outbox.db')} is full: it has reached store.maxSize (${maxBytes} bytes), and nothing was stored. Repair the sinks that reject their deliveries, discard dead letters, or raise store.maxSize; a running bridge then continues by itself`,
    },
  );
  const { bytes } = store.outbox.usage();
  assert.ok(bytes <= maxBytes * (63 / 64) && bytes > maxBytes * 0.9, `${bytes} bytes`);
  const rows = store.outbox.queue.queued('audit', [], 1000);
  assert.equal(rows.length, count, 'the last one is rolled back');
  const settlements = rows.map(({ seq }) => ({ seq, result: 'accepted' }) as const);
  store.outbox.queue.settle('audit', settlements, 1);
  while (store.outbox.retention.prune({ retainMs: 1, nowMs: store.time.wallMs() }) > 0);
  assert.ok(store.outbox.usage().bytes < bytes / 2);
  append(store, [entry('b:1')]);
});

test('without store.maxSize the store has no limit', (t) => {
  assert.equal(testStore(t).outbox.usage().maxBytes, null);
});

test('an error of the work inside a transaction passes unchanged', (t) => {
  const { outbox } = testStore(t);
  const error = new RangeError('mine');
  assert.throws(
    () =>
      outbox.transact(() => {
        throw error;
      }),
    error,
  );
});

test('use of a closed store is an error that says so', (t) => {
  const { outbox } = testStore(t);
  outbox.close();
  assert.throws(
    () => queuedIds(outbox),
    (error: BridgeError) => {
      assert.deepEqual([error.code, error.cause instanceof Error], ['BRIDGE_INTERNAL', true]);
      return /after it was closed/.test(error.message);
    },
  );
  assert.throws(() => outbox.transact(() => undefined), { code: 'BRIDGE_INTERNAL', message: /after it was closed/ });
});

test('a full disk says that a running bridge continues, and a bridge that starts that it has to be started again', () => {
  const noSpace = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'open' });
  const error = storeError(noSpace, '/s/lock.db') as Error;
  const full = 'the disk of the store /s/lock.db is full; nothing was stored. Free some space';
  assert.equal(error.message, `${full}; a running bridge then continues by itself`);
  const atStart = startFault(error) as Error & { code: string };
  assert.equal(atStart.message, `the bridge cannot start: ${full}, then start the bridge again`);
  assert.equal(atStart.code, 'BRIDGE_STORE_FULL');
  assert.equal((atStart as BridgeError).cause, noSpace);
  const damage = damaged('/s/outbox.db', 'it is empty');
  for (const other of [new Error('x'), damage]) assert.equal(startFault(other), other);
});
