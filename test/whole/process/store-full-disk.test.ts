// A full disk → errors that say so, nothing half stored; the store goes on once there is room.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { append, at, entry, knownState, queuedIds, sinks, type TestStore } from '../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const many = (count: number, name = 'e') =>
  Array.from({ length: count }, (_, index) => entry(`${name}${index}:1`, { occurrence: index + 1 }));

test('on a full disk nothing is stored and the error says so; when there is room again, it continues', async (t) => {
  const disk = smallDisk(t, '1m');
  if ('reason' in disk) return t.skip(`${disk.reason}; the same is tested with a bound on pages`);
  const folder = join(disk.folder, 'store');
  const time = new VirtualTime();
  const outbox = openOutbox(folder, { deps: time, lock: true });
  t.after(() => outbox.close());
  const store: TestStore = { folder, time, outbox };
  outbox.sinks.sync(sinks('audit'));
  outbox.transact((transaction) => transaction.saveState(knownState([])));
  append(store, [entry('before:1')]);

  disk.fill();
  assert.equal(outbox.heartbeat(at(2_000_000)), false);
  assert.throws(() => append(store, many(100)), {
    code: 'BRIDGE_STORE_FULL',
    message: new RegExp(`${folder}.*is full`),
  });
  assert.deepEqual(queuedIds(outbox), ['before:1']);

  disk.free();
  append(store, many(100));
  assert.equal(queuedIds(outbox).length, 101);
  await time.advance(1000);
  assert.equal(outbox.heartbeat(at(3_000_000)), true);
  outbox.close();

  disk.fill();
  assert.throws(() => openOutbox(folder, { deps: time, lock: true }), { code: 'BRIDGE_STORE_FULL' });
  disk.free();
  using again = openOutbox(folder, { deps: time, lock: true });
  assert.equal(queuedIds(again).length, 101);
  assert.equal(again.known.load().lastGoodAt?.wallMs, 3_000_000);
});
