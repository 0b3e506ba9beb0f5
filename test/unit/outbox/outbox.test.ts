// A store as a whole: opened, closed, its own time kept → what the next process finds.
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { isUnused } from '../../../src/outbox/lock.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { at, knownEvent, knownState, temporaryFolder, testStore } from '../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const HOUR = 3_600_000;

for (const [how, keep] of [
  ['without documents', (outbox: ReturnType<typeof testStore>['outbox']) => outbox.keepTime()],
  ['with each document', (outbox: ReturnType<typeof testStore>['outbox']) => outbox.heartbeat(at(5))],
] as const) {
  test(`the store's own time is stored ${how}, and continues in the next process on another machine`, async (t) => {
    const { outbox, folder, time } = testStore(t);
    assert.equal(outbox.queue.nowMs(), 0);
    await time.advance(HOUR);
    keep(outbox);
    outbox.close();
    // Its clocks begin again, and its date has gone on.
    const later = new VirtualTime({ startMs: time.wallMs() });
    using next = openOutbox(folder, { deps: later, lock: true });
    assert.equal(next.queue.nowMs(), HOUR);
  });
}

test('a store is closed once, however often that is asked, and is then free', (t) => {
  const { outbox, folder } = testStore(t);
  assert.equal(isUnused(folder), false);
  outbox.close();
  outbox.close();
  outbox[Symbol.dispose]();
  assert.equal(isUnused(folder), true);
});

test('a block that uses a store closes it at its end', (t) => {
  const folder = temporaryFolder(t);
  {
    using outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
    assert.equal(isUnused(folder), false);
    assert.ok(outbox.usage().bytes > 0);
  }
  assert.equal(isUnused(folder), true);
});

test('a store that cannot be opened stays free', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'outbox.db'), '');
  assert.throws(() => openOutbox(folder, { deps: new VirtualTime(), lock: true }), {
    code: 'BRIDGE_STORE_DAMAGED',
    message: /outbox\.db is damaged \(it is empty\)/,
  });
  assert.equal(isUnused(folder), true);
});

test('a verb finds out that there is no store, creates nothing, and says what to do', (t) => {
  const folder = temporaryFolder(t);
  assert.throws(() => openOutbox(folder, { deps: new VirtualTime(), lock: false }), {
    code: 'BRIDGE_STORE_MISSING',
    message: `there is no store in ${folder}. Start "run" with this configuration first, or check store.path`,
  });
  assert.deepEqual(readdirSync(folder), []);
});

test('events that ended without a time of their own ended with the last document or, without one, now', (t) => {
  const { outbox, time } = testStore(t);
  const save = (...keys: readonly string[]) => ({
    at: (lastGoodAt: ReturnType<typeof at> | null) =>
      outbox.transact((transaction) => {
        const events = keys.map((key, index) => knownEvent(key, index + 1));
        transaction.saveState(knownState(events, { lastGoodAt }));
      }),
  });
  save('a', 'b').at(at(5));
  save('a').at(at(7));
  save().at(null);
  assert.deepEqual([outbox.known.lastEndedMs('b'), outbox.known.lastEndedMs('a')], [7, time.wallMs()]);
});

test('a transaction returns what its work returns', (t) => {
  assert.equal(
    testStore(t).outbox.transact(() => 'done'),
    'done',
  );
});
