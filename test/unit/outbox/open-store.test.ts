// A store that is nearly full, or that cannot be opened → an error, and nothing left behind.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import { type OpenStore, transact } from '../../../src/outbox/open-store.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { testStore } from '../../virtual/outbox-fixture.ts';

test('transactions may use all but one 64th of store.maxSize', () => {
  const commit = (bytes: number) => {
    const database = {
      file: 'a.db',
      usage: () => ({ bytes, maxBytes: 6400 }),
      transaction: (work: () => void) => work(),
    };
    const store = { database, tables: { known: { stored: new Map() } } } as unknown as OpenStore;
    return transact(store, { wallMs: () => 0 }, () => 'done');
  };
  assert.equal(commit(6300), 'done');
  assert.throws(() => commit(6301), {
    code: 'BRIDGE_STORE_FULL',
    message: /^the store a\.db is full: it has reached store\.maxSize \(6400 bytes\)/,
  });
});

test('a store that cannot be opened is not left open', (t) => {
  const { folder, time, outbox } = testStore(t);
  outbox.close();
  const later = new DatabaseSync(join(folder, 'outbox.db'));
  later.exec('PRAGMA user_version = 999');
  later.close();
  const open = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
  const before = open();
  for (let each = 0; each < 20; each++)
    assert.throws(() => openOutbox(folder, { deps: time, lock: false }), { code: 'BRIDGE_STORE_NEWER' });
  assert.ok(open() < before + 10);
});
