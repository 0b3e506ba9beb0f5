// The store of another VM → a folder of its own, and an empty store in its place.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { moveAside } from '../../../src/outbox/folder.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import {
  append,
  entry,
  knownEvent,
  knownState,
  queuedIds,
  sinks,
  temporaryFolder,
  testStore,
} from '../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

test('the store is set aside completely, with the reason, and nothing of it is left', (t) => {
  const store = testStore(t);
  const { outbox, folder, time } = store;
  outbox.identity.save({ vmId: 'OLD/../vm', name: 'old_0' });
  const { observerId } = outbox.identity.current;
  outbox.transact((transaction) => transaction.saveState(knownState([knownEvent('a', 1)])));
  append(store, [entry('a:1')]);

  const aside = outbox.setAside('the store belongs to another VM');
  assert.equal(dirname(aside), folder);
  assert.equal(basename(aside), 'set-aside-20260101T000000Z-OLD----vm');
  assert.deepEqual(readdirSync(aside).sort(), ['outbox.db', 'reason.txt']);
  assert.equal(readFileSync(join(aside, 'reason.txt'), 'utf8'), 'the store belongs to another VM\n');
  const old = new DatabaseSync(join(aside, 'outbox.db'));
  t.after(() => old.close());
  assert.equal(old.prepare('SELECT id FROM journal').get()?.['id'], 'a:1');

  assert.equal(outbox.known.load().lastGoodAt !== null, false);
  assert.equal(outbox.journal.isUsed('a:1'), false);
  assert.equal(outbox.identity.current.vmId, null);
  assert.notEqual(outbox.identity.current.observerId, observerId, 'another machine is another observer');
  outbox.sinks.sync(sinks('audit'));
  append(store, [entry('a:1')]);
  assert.deepEqual(queuedIds(outbox), ['a:1']);
  assert.throws(() => openOutbox(folder, { deps: time, lock: true }), { code: 'BRIDGE_STORE_LOCKED' });
});

test('a restart finds the empty store, and a second store is set aside next to the first', (t) => {
  const { outbox, folder, time } = testStore(t);
  const first = outbox.setAside('one');
  const second = outbox.setAside('two');
  assert.deepEqual(
    [basename(first), basename(second)],
    ['set-aside-20260101T000000Z-unknown', 'set-aside-20260101T000000Z-unknown-2'],
  );
  outbox.close();
  using again = openOutbox(folder, { deps: time, lock: true });
  assert.equal(again.known.load().lastGoodAt !== null, false);
});

test('rows that a verb has open are set aside with their log', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')]);
  const verb = new DatabaseSync(join(store.folder, 'outbox.db'));
  t.after(() => verb.close());
  verb.exec('BEGIN');
  verb.prepare('SELECT count(*) FROM journal').get();
  append(store, [entry('b:1')]);
  const aside = store.outbox.setAside('another VM');
  verb.exec('COMMIT');
  const old = new DatabaseSync(join(aside, 'outbox.db'));
  t.after(() => old.close());
  assert.deepEqual(
    old
      .prepare('SELECT id FROM journal ORDER BY seq')
      .all()
      .map((row) => row['id']),
    ['a:1', 'b:1'],
  );
  assert.equal(store.outbox.journal.isUsed('a:1'), false);
});

test('the empty store that follows is durable, as every store is by default', (t) => {
  const folder = join(temporaryFolder(t), 'store');
  using outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
  outbox.identity.save({ vmId: 'one' });
  outbox.setAside('another VM');
  outbox.identity.save({ vmId: 'two' });
  outbox.close();
  using again = openOutbox(folder, { deps: new VirtualTime(), lock: true });
  assert.equal(again.identity.current.vmId, 'two');
});

test('a store that cannot be set aside stays in use', (t) => {
  const store = testStore(t);
  append(store, [entry('a:1')]);
  store.time.jumpWall(Number.MAX_VALUE);
  assert.throws(() => store.outbox.setAside('no such time'), RangeError);
  assert.deepEqual(queuedIds(store.outbox), ['a:1']);
  assert.ok(existsSync(join(store.folder, 'outbox.db')));
});

test('the folder of a store that is set aside is named by the time and the plain characters of its VM', (t) => {
  const folder = temporaryFolder(t);
  const atMs = Date.UTC(2026, 10, 28, 9, 5, 7, 999);
  const nameFor = (vmId: string | null) => basename(moveAside(folder, 'outbox.db', { vmId, reason: 'moved', atMs }));
  assert.deepEqual(
    ['02AAb8-4', 'a_b/c d', 'x'.repeat(65), '', null].map(nameFor),
    ['02AAb8-4', 'a-b-c-d', 'x'.repeat(64), 'unknown', 'unknown-2'].map((name) => `set-aside-20261128T090507Z-${name}`),
  );
});

test('a folder that cannot be made is an error of the store', (t) => {
  const nowhere = join(temporaryFolder(t), 'nowhere');
  assert.throws(() => moveAside(nowhere, 'outbox.db', { vmId: null, reason: 'moved', atMs: 0 }), {
    code: 'BRIDGE_STORE_FAILED',
    message: new RegExp(`^the store ${join(nowhere, 'outbox.db')} cannot be read or written`),
  });
});
