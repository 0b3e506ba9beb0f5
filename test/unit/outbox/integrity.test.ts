// Rows that changed on the disk → an error before anything is sent, which says what has changed.
import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { DATABASE_FILE } from '../../../src/outbox/folder.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { append, at, entry, knownEvent, knownState, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';
import { eventApproval } from '../cloudevents/changes.ts';

/** A store with a row of each kind. */
function filled(store: TestStore): void {
  store.outbox.identity.save({ vmId: 'vm-1', name: 'web_0', source: '/vm', vm: { location: 'westeurope' } });
  const missing = { at: at(3), scheduledJustBefore: true };
  const events = [knownEvent('a', 1, { lastListedAt: at(2), missing })];
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState(events));
    transaction.saveApproval(eventApproval({ key: 'a', occurrence: 1 }));
  });
  append(
    store,
    Array.from({ length: 40 }, (_, index) => entry(`a:${index + 1}`)),
  );
}

/** As a bit that changes on a disk would. */
function change(store: TestStore, sql: string): void {
  store.outbox.close();
  const database = new DatabaseSync(join(store.folder, DATABASE_FILE));
  database.exec(sql);
  database.close();
}

function reopen(store: TestStore, lock = true): void {
  openOutbox(store.folder, { deps: store.time, lock }).close();
}

const JOURNAL = 'UPDATE journal SET';
for (const [what, changes] of Object.entries({
  'the CloudEvent a:1': [`${JOURNAL} change = 'ended' WHERE seq = 1`, `${JOURNAL} partition_key = 'b' WHERE seq = 1`],
  'the CloudEvent a:x': [`${JOURNAL} id = 'a:x' WHERE seq = 1`],
  'the CloudEvent a:40': [`${JOURNAL} bytes = x'7b7d' WHERE seq = 40`],
  'the known state': [
    'UPDATE known_state SET incarnation = 99',
    "UPDATE known_state SET api_version = '2019-01-01'",
    'UPDATE known_state SET next_occurrence = 1',
    'UPDATE known_state SET epoch_number = 2',
    'UPDATE known_state SET epoch_started_ms = 1',
    'UPDATE known_state SET epoch_row_started_ms = 1',
  ],
  'the event a': [
    'UPDATE known_events SET occurrence = 7',
    "UPDATE known_events SET event = '{}'",
    "UPDATE known_events SET api_version = '2019-01-01'",
    'UPDATE known_events SET epoch = 7',
    'UPDATE known_events SET listed = 0',
    'UPDATE known_events SET last_listed_ms = 7',
    'UPDATE known_events SET missing_ms = 7',
    'UPDATE known_events SET missing_scheduled = 0',
  ],
  'the identity of the VM': [
    "UPDATE identity SET vm_id = 'vm-2'",
    "UPDATE identity SET name = 'web_1'",
    "UPDATE identity SET source = '/other'",
    "UPDATE identity SET vm = '{}'",
    "UPDATE identity SET observer_id = 'x'",
  ],
  'the approvals of a': [
    "UPDATE approvals SET state = 'approved'",
    "UPDATE approvals SET policy = 'another'",
    'UPDATE approvals SET at_ms = 1',
    "UPDATE approvals SET votes = '[]'",
    'UPDATE approvals SET holds = \'[{"atMs":1}]\'',
    'UPDATE approvals SET decision = NULL',
    'UPDATE approvals SET dry_run = 1 - dry_run',
  ],
}))
  for (const sql of changes) {
    test(`a start finds a changed row: ${sql}`, (t) => {
      const store = testStore(t);
      filled(store);
      change(store, sql);
      const file = join(store.folder, DATABASE_FILE);
      assert.throws(() => reopen(store), {
        code: 'BRIDGE_STORE_DAMAGED',
        message: `the store file ${file} is damaged (${what} has changed since it was written). Stop the bridge and put back a copy of its folder, or move the folder away to start with an empty store; the bridge then does not deliver the CloudEvents queued in it`,
      });
    });
  }

test('an unchanged store of every kind of row is opened, and so is one without sums, as an earlier release wrote it', (t) => {
  const store = testStore(t);
  filled(store);
  store.outbox.close();
  reopen(store);
  const tables = ['journal', 'known_state', 'known_events', 'identity', 'approvals'];
  change(store, tables.map((table) => `UPDATE ${table} SET sum = NULL;`).join(''));
  reopen(store);
});

test('a CloudEvent that changes while the bridge runs is not sent', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')]);
  const other = new DatabaseSync(join(store.folder, DATABASE_FILE));
  other.exec("UPDATE journal SET bytes = x'7b7d'");
  other.close();
  assert.throws(() => store.outbox.queue.queued('audit', [], 1), { code: 'BRIDGE_STORE_DAMAGED' });
});

test('the time of the last document, which is written alone, is not part of a sum', (t) => {
  const store = testStore(t);
  filled(store);
  change(store, 'UPDATE known_state SET last_good_ms = 5');
  reopen(store);
});

test('a verb does not read the whole store when it opens it', (t) => {
  const store = testStore(t);
  filled(store);
  change(store, `${JOURNAL} bytes = x'7b7d' WHERE seq = 40`);
  reopen(store, false);
});

test('an index that does not match its table is damage, with the words of SQLite', (t) => {
  const store = testStore(t);
  filled(store);
  store.outbox.close();
  const path = join(store.folder, DATABASE_FILE);
  const database = new DatabaseSync(path);
  const row = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'journal_time'").get();
  database.close();
  // The last byte of the page is the position of the first CloudEvent.
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.of(99), 0, 1, Number(row?.['rootpage']) * 4096 - 1);
  closeSync(file);
  assert.throws(() => reopen(store), { code: 'BRIDGE_STORE_DAMAGED', message: /journal_time/ });
});
