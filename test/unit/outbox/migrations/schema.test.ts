// Databases of older, this and later versions → what opening them does.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { FIRST_PART } from '../../../../src/approvals/views/queries.ts';
import { Database } from '../../../../src/outbox/database.ts';
import { MIGRATIONS, migrate } from '../../../../src/outbox/migrations/schema.ts';
import { type Outbox, openOutbox } from '../../../../src/outbox/outbox.ts';
import { scheduledEvent } from '../../../support/events.ts';
import { approvalStep, at, temporaryFolder, testStore } from '../../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const SETTINGS = { synchronous: 'OFF' } as const;

function versionOf(database: Database): number | undefined {
  return database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version;
}

test('a new store runs every step and has the newest version', (t) => {
  using database = new Database(join(temporaryFolder(t), 'a.db'), SETTINGS);
  migrate(database);
  assert.equal(versionOf(database), MIGRATIONS.length);
});

test('a store of an earlier version keeps its rows and runs the missing steps, once', (t) => {
  const file = join(temporaryFolder(t), 'a.db');
  const steps = ['CREATE TABLE fruit (name TEXT)', `ALTER TABLE fruit ADD COLUMN colour TEXT DEFAULT 'red'`];
  {
    using database = new Database(file, SETTINGS);
    migrate(database, steps.slice(0, 1));
    database.exec(`INSERT INTO fruit VALUES ('apple')`);
  }
  using database = new Database(file, SETTINGS);
  migrate(database, steps);
  migrate(database, steps);
  assert.equal(versionOf(database), 2);
  assert.deepEqual(
    { ...database.prepare<{ name: string; colour: string }>('SELECT * FROM fruit').get() },
    { name: 'apple', colour: 'red' },
  );
});

test('a store of version 2 gets the tables of messages, and keeps its rows', (t) => {
  using newer = reopened(t, 2, (database) => {
    database.exec(`INSERT INTO occurrences (occurrence, key, first_seen_ms, ended_ms) VALUES (1, 'a', 0, 7)`);
  });
  assert.equal(newer.known.lastEndedMs('a'), 7);
  assert.deepEqual([newer.messages.parked(), newer.messages.find('topic', '1')], [[], null]);
});

test('a store of version 5 keeps its identity, without further data about the VM', (t) => {
  using newer = reopened(t, 5, (database) => {
    database.exec(
      `INSERT INTO identity (id, vm_id, name, source, observer_id) VALUES (1, 'vm', 'WestNO_0', '/s', 'abc')`,
    );
  });
  assert.deepEqual(newer.identity.current, { vmId: 'vm', name: 'WestNO_0', source: '/s', vm: null, observerId: 'abc' });
});

test('a store of version 6 finds its superseded deliveries', (t) => {
  using newer = reopened(t, 6, (database) => {
    database.exec(`
      INSERT INTO occurrences (occurrence, key, first_seen_ms, ended_ms) VALUES (1, 'a', 0, 7), (2, 'b', 0, NULL);
      INSERT INTO journal (id, change, key, occurrence, partition_key, time_ms, bytes) VALUES
        ('a:scheduled', 'scheduled', 'a', 1, 'a', 0, 'x'), ('a:ended', 'ended', 'a', 1, 'a', 0, 'x'), ('b:scheduled', 'scheduled', 'b', 2, 'b', 0, 'x');
      INSERT INTO deliveries (sink, journal, partition_key, queued_ms, state) SELECT 'drain', seq, partition_key, 0, 'queued' FROM journal;`);
  });
  assert.deepEqual(newer.queue.superseded('drain', newer.queue.movedOn('drain', null), 10), [
    { seq: 1, partitionKey: 'a' },
  ]);
});

test('deliveries queued in a store of version 6 start with their age by date, and age from there', async (t) => {
  const time = new VirtualTime({ startMs: 0 });
  using newer = reopened(t, 6, (database) => database.exec(TWO_QUEUED), time);
  const sinceMs = () => newer.queue.queued('audit', [], 10).map(({ queuedAtMs }) => newer.queue.nowMs() - queuedAtMs);
  assert.deepEqual(sinceMs(), [7_000, 2_000]);
  await time.advance(500);
  time.jumpWall(Date.UTC(2026, 0, 1));
  assert.deepEqual(sinceMs(), [7_500, 2_500]);
  assert.equal(newer.queue.backlog('audit').oldestQueuedAtMs, time.wallMs() - 7_500);
});

const TWO_QUEUED = `
  INSERT INTO known_state (id, last_good_ms, next_occurrence) VALUES (1, 1000007000, 1);
  INSERT INTO journal (id, change, key, partition_key, time_ms, bytes) VALUES ('a', 'scheduled', 'a', 'a', 1, '{}'), ('b', 'scheduled', 'b', 'b', 1, '{}');
  INSERT INTO deliveries (sink, journal, partition_key, queued_ms, state) VALUES ('audit', 1, 'a', 1000000000, 'queued'), ('audit', 2, 'b', 1000005000, 'queued');`;

test('a store of version 6 keeps the position of its pruned CloudEvents', (t) => {
  using newer = reopened(t, 6, (database) => {
    const add = database.prepare(
      `INSERT INTO journal (id, change, key, partition_key, time_ms, bytes) VALUES (?, 'scheduled', 'a', 'a', 1, '{}')`,
    );
    const use = database.prepare('INSERT INTO used_ids (seq, id, used_ms) VALUES (?, ?, 1)');
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
      add.run(id);
      use.run(index + 1, id);
    }
    database.exec('DELETE FROM journal WHERE seq IN (1, 3)');
  });
  assert.deepEqual([newer.journalPages.pruned(), newer.journalPages.newest()], [3, 4]);
  assert.deepEqual(newer.queue.record('audit'), { pause: null, lastAcceptedAtMs: null, lastError: null });
});

test('in a store of version 7 the row of epochs begins with the epoch', (t) => {
  using newer = reopened(t, 7, (database) =>
    database.exec(
      `INSERT INTO known_state (id, last_good_ms, epoch_number, epoch_started_ms, next_occurrence) VALUES (1, 9000, 4, 5000, 1)`,
    ),
  );
  const startedAt = { wallMs: 5000, elapsedMs: null };
  assert.deepEqual(newer.known.load().epoch, { number: 4, startedAt, rowStartedAt: startedAt });
});

test('a store of version 3 keeps its approvals, without holds and with a default for `via`', (t) => {
  const { folder, time, outbox } = testStore(t);
  outbox.close();
  const file = join(folder, 'outbox.db');
  rmSync(file);
  const event = scheduledEvent();
  {
    using database = new Database(file, SETTINGS);
    migrate(database, MIGRATIONS.slice(0, 3));
    const votes = JSON.stringify([{ approver: 'orders', atMs: 5, event }]);
    const add = database.prepare(
      'INSERT INTO approvals (occurrence, key, state, policy, at_ms, votes) VALUES (?, ?, ?, ?, ?, ?)',
    );
    add.run(1, 'a', 'submitting', null, 6, votes);
    add.run(2, 'b', 'dry-run', 'policy[0]', 7, '[]');
    add.run(3, 'c', 'moot', null, 8, '[]');
    for (const occurrence of [1, 2])
      database.exec(
        `INSERT INTO known_events VALUES (${occurrence}, 'k${occurrence}', '${JSON.stringify(event)}', 'v', 1, 1, null, null, null);`,
      );
    database.exec(
      `INSERT INTO occurrences (occurrence, key, first_seen_ms, ended_ms) VALUES (1, 'a', 0, null), (2, 'b', 0, null), (3, 'c', 0, 8)`,
    );
  }
  using newer = openOutbox(folder, { deps: time, lock: true, synchronous: 'OFF' });
  const votes = [{ approver: 'orders', via: 'token', isShared: false, hasSeen: false, at: at(5), event }];
  const first = {
    key: 'a',
    occurrence: 1,
    state: 'submitting',
    policy: null,
    at: at(6),
    votes,
    holds: [],
    decision: null,
    isDryRun: false,
  };
  const second = {
    ...first,
    key: 'b',
    occurrence: 2,
    state: 'dry-run',
    policy: 'policy[0]',
    at: at(7),
    votes: [],
    isDryRun: true,
  };
  assert.deepEqual(newer.approvals.open(), [first, second]);
  assert.deepEqual(newer.approvals.of(3), { ...first, key: 'c', occurrence: 3, state: 'moot', at: at(8), votes: [] });
  assert.deepEqual(newer.approvals.record(1, FIRST_PART).steps, []);
  assert.deepEqual(newer.known.lastOccurrence('c'), { occurrence: 3, endedMs: 8 });
  newer.transact((transaction) => transaction.addSteps(1, [approvalStep('submitted')]));
  assert.deepEqual(newer.approvals.record(1, FIRST_PART).steps, [approvalStep('submitted')]);
});

test('a step that fails leaves the version before it', (t) => {
  using database = new Database(join(temporaryFolder(t), 'a.db'), SETTINGS);
  assert.throws(
    () =>
      migrate(database, [
        'CREATE TABLE fruit (name TEXT)',
        'CREATE TABLE tree (name TEXT); CREATE TABLE fruit (name TEXT)',
      ]),
    {
      code: 'BRIDGE_STORE_FAILED',
    },
  );
  assert.equal(versionOf(database), 1);
  assert.equal(database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'tree'`).get(), undefined);
});

test('steps that another process has run in the meantime are not run again', (t) => {
  const file = join(temporaryFolder(t), 'a.db');
  const steps = ['CREATE TABLE fruit (name TEXT)', 'CREATE TABLE tree (name TEXT)'];
  using database = new Database(file, SETTINGS);
  using other = new Database(file, SETTINGS);
  const overtaken = {
    file,
    prepare: (sql: string) => database.prepare(sql),
    exec: (sql: string) => database.exec(sql),
    transaction: (work: () => void) => {
      migrate(other, steps);
      database.transaction(work);
    },
  };
  migrate(overtaken as unknown as Database, steps);
  assert.equal(versionOf(database), 2);
});

test('a store that a later release wrote is rejected and left unchanged', (t) => {
  const { folder, time, outbox } = testStore(t);
  outbox.close();
  const file = join(folder, 'outbox.db');
  const later = new DatabaseSync(file);
  later.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  later.close();
  assert.throws(
    () => openOutbox(folder, { deps: time, lock: true }),
    (error: Error & { code: string }) => {
      assert.equal(error.code, 'BRIDGE_STORE_NEWER');
      assert.match(
        error.message,
        new RegExp(`${file} was written by a later release.*version ${MIGRATIONS.length + 1}`),
      );
      return true;
    },
  );
  const untouched = new DatabaseSync(file);
  t.after(() => untouched.close());
  assert.deepEqual({ ...untouched.prepare('PRAGMA user_version').get() }, { user_version: MIGRATIONS.length + 1 });
});

test('a commit after a relaxed one is synced and waits for locks again', (t) => {
  using database = new Database(join(temporaryFolder(t), 'a.db'), { synchronous: 'FULL' });
  const touch = database.prepare('PRAGMA user_version = 0');
  const setting = (name: string): unknown =>
    Object.values(database.prepare<Record<string, unknown>>(`PRAGMA ${name}`).get() ?? {})[0];
  const mode = () => [setting('synchronous'), setting('busy_timeout')];
  database.relaxed(() => touch.get(), { wait: false });
  assert.deepEqual(
    database.transaction(() => mode()),
    [2, 5000],
  );
  assert.deepEqual(
    database.relaxed(() => database.transaction(() => mode()), { wait: false }),
    [1, 0],
  );
  assert.throws(() =>
    database.relaxed(() => {
      throw new Error('no');
    }),
  );
  assert.deepEqual(mode(), [2, 5000]);
});

test('the store uses a write-ahead log, is synced at every commit, and its log does not grow without bound', (t) => {
  using database = new Database(join(temporaryFolder(t), 'a.db'), { synchronous: 'FULL' });
  const setting = (name: string): unknown =>
    Object.values(database.prepare<Record<string, unknown>>(`PRAGMA ${name}`).get() ?? {})[0];
  assert.equal(setting('journal_mode'), 'wal');
  assert.equal(setting('synchronous'), 2);
  assert.equal(setting('journal_size_limit'), 4 * 1024 * 1024);
  assert.equal(setting('wal_autocheckpoint'), 1000);
  assert.equal(
    database.relaxed(() => setting('synchronous')),
    1,
  );
  assert.equal(setting('synchronous'), 2);
});

/** A store that a program of this schema version wrote, opened by the program of today. */
function reopened(
  t: TestContext,
  version: number,
  write: (database: Database) => void,
  time = new VirtualTime(),
): Outbox {
  const { folder, outbox } = testStore(t);
  outbox.close();
  const file = join(folder, 'outbox.db');
  rmSync(file);
  {
    using database = new Database(file, SETTINGS);
    migrate(database, MIGRATIONS.slice(0, version));
    write(database);
  }
  return openOutbox(folder, { deps: time, lock: true, synchronous: 'OFF' });
}
