// Statements and transactions of one file → their results, or errors that name the file.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { countWithin, Database, type DatabaseOptions } from '../../../src/outbox/database.ts';
import { temporaryFolder } from '../../virtual/outbox-fixture.ts';

/** Writes the durability and the wait with which it runs. */
const NOTE = `INSERT INTO modes SELECT s.synchronous || ' ' || b.timeout FROM pragma_synchronous s, pragma_busy_timeout b`;
const SETTINGS = { synchronous: 'OFF' } as const;

test('of rows of 3, 2 and 1 bytes, as many are counted as fit, and the first one always', () => {
  const rows = [3, 2, 1].map((size) => ({ size }));
  const counts = [0, 2, 3, 4, 5, 6, 7].map((maxBytes) => countWithin(rows, maxBytes));
  assert.deepEqual(counts, [1, 1, 1, 1, 2, 3, 3]);
  assert.equal(countWithin([], 0), 0);
});

test('a transaction inside another is an error that names the file, and nothing of both is stored', (t) => {
  const file = join(temporaryFolder(t), 'a.db');
  using database = new Database(file, SETTINGS);
  database.exec('CREATE TABLE fruit (name TEXT)');
  const add = database.prepare('INSERT INTO fruit VALUES (?)');
  const both = () =>
    database.transaction(() => {
      add.run('apple');
      database.transaction(() => add.run('pear'));
    });
  assert.throws(both, {
    code: 'BRIDGE_INTERNAL',
    message: `a transaction of the store ${file} was started inside another`,
  });
  assert.equal(
    database.transaction(() => add.run('plum')),
    1,
  );
  const names = database.prepare<{ name: string }>('SELECT name FROM fruit').all();
  assert.deepEqual(
    names.map(({ name }) => name),
    ['plum'],
  );
});

test('each wrong statement, and a file that cannot be opened, is an error of the store', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'a.db');
  using database = new Database(file, SETTINGS);
  const expected = { code: 'BRIDGE_STORE_FAILED', message: new RegExp(`^the store ${file} cannot be read or written`) };
  assert.throws(() => database.exec('CREATE fruit'), expected);
  assert.throws(() => database.prepare('SELECT name FROM fruit'), expected);
  assert.throws(() => database.prepareAll({ all: 'SELECT name FROM fruit' }), expected);
  assert.throws(() => new Database(folder, SETTINGS), {
    code: 'BRIDGE_STORE_FAILED',
    message: new RegExp(`^the store ${folder} cannot be read or written`),
  });
});

test('a file that is not a database is not left open', (t) => {
  const file = join(temporaryFolder(t), 'a.db');
  writeFileSync(file, 'not a database. '.repeat(1000));
  const open = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let each = 0; each < 20; each++)
    assert.throws(() => new Database(file, SETTINGS), { code: 'BRIDGE_STORE_DAMAGED' });
  assert.ok(open() < before + 10);
});

test('store.maxSize limits the file to whole pages, and without it the limit is that of SQLite', (t) => {
  const folder = temporaryFolder(t);
  const limit = (name: string, options: Partial<DatabaseOptions>) => {
    using database = new Database(join(folder, name), { ...SETTINGS, ...options });
    const pages = database.prepare<{ max_page_count: number }>('PRAGMA max_page_count').get()?.max_page_count ?? 0;
    return { pages: pages > 1_000_000 ? 'no limit' : pages, maxBytes: database.usage().maxBytes };
  };
  assert.deepEqual(
    [limit('a', { maxBytes: 40_960 }), limit('b', { maxBytes: 45_055 }), limit('c', { maxPages: 7 }), limit('d', {})],
    [
      { pages: 10, maxBytes: 40_960 },
      { pages: 10, maxBytes: 45_055 },
      { pages: 7, maxBytes: null },
      { pages: 'no limit', maxBytes: null },
    ],
  );
});

test('each write has its own durability and its own longest wait for a lock, whatever came before it', (t) => {
  const folder = temporaryFolder(t);
  const modes = (synchronous: 'FULL' | 'OFF') => {
    using database = new Database(join(folder, synchronous), { synchronous });
    const select = database.prepare('SELECT 1');
    database.exec('CREATE TABLE modes (mode TEXT)');
    const note = () => database.exec(NOTE);
    note();
    database.relaxed(note, { wait: false });
    note();
    database.relaxed(note);
    database.relaxed(() => select.get(), { wait: false });
    note();
    return database.prepare<{ mode: string }>('SELECT mode FROM modes').all();
  };
  const [full, off] = (['FULL', 'OFF'] as const).map((synchronous) => modes(synchronous).map(({ mode }) => mode));
  assert.deepEqual(full, ['2 5000', '1 0', '2 5000', '1 5000', '2 5000']);
  assert.deepEqual(off, ['0 5000', '0 0', '0 5000', '0 5000', '0 5000']);
});

test('a database is closed once, however often that is asked, and then reads nothing', (t) => {
  const file = join(temporaryFolder(t), 'a.db');
  const database = new Database(file, SETTINGS);
  const select = database.prepare('SELECT 1');
  database[Symbol.dispose]();
  database.close();
  for (const use of [() => select.get(), () => database.transaction(() => {})])
    assert.throws(use, { code: 'BRIDGE_INTERNAL', message: `the store ${file} was used after it was closed` });
});
