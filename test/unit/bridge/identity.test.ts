// What the instance route answers → when documents may be handled, and whom CloudEvents name.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { Identity } from '../../../src/bridge/identity.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { InstanceAnswer } from '../../../src/metadata/instance.ts';
import { knownState, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';
import { settle } from '../../virtual/virtual-time.ts';

const KNOWN: InstanceAnswer = { kind: 'known', vmId: 'vm', name: 'WestNO_0', source: '/subscriptions/s/resourcegroups/g' };
const FAILED: InstanceAnswer = { kind: 'failed', error: new BridgeError('BRIDGE_METADATA_STATUS', 'the metadata service answered 503') };

/** `answers` in order, the last one again and again; null is a question that gets no answer. */
function startIdentity(t: TestContext, answers: readonly (InstanceAnswer | null)[], store: TestStore = testStore(t)) {
  const left = [...answers];
  const controller = new AbortController();
  t.after(() => controller.abort());
  const identity = new Identity({
    outbox: store.outbox,
    configuredSource: '/my/source',
    instance: async () => (left.length > 1 ? left.shift() : left[0]) ?? new Promise(() => {}),
    deps: store.time,
    logger: pino({ level: 'silent' }),
    foreign: async () => {},
  });
  void identity.run(controller.signal);
  return { identity, time: store.time };
}

test("a new store waits for the VM's name though the source is configured, so that the first CloudEvents name it", async (t) => {
  const { identity } = startIdentity(t, [KNOWN]);
  assert.equal(identity.isIdentified, false);
  await settle();
  assert.equal(identity.isIdentified, true);
  assert.deepEqual(identity.observer, { name: 'WestNO_0', id: 'westno_0' });
});

test('a new store with a configured source waits for a name no longer than 3 s', async (t) => {
  for (const answer of [FAILED, null]) {
    const { identity, time } = startIdentity(t, [answer]);
    await time.advance(2999);
    assert.equal(identity.isIdentified, false);
    await time.advance(1);
    assert.equal(identity.isIdentified, true);
    assert.equal(identity.observer.name, null);
  }
});

test('an instance route that does not exist is not waited for', async (t) => {
  const { identity } = startIdentity(t, [{ kind: 'absent', status: 404 }]);
  await settle();
  assert.equal(identity.isIdentified, true);
});

test('a stored state waits 60 s for the vmId', async (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => transaction.saveState(knownState([])));
  const { identity, time } = startIdentity(t, [FAILED], store);
  await time.advance(59_999);
  assert.equal(identity.isIdentified, false);
  await time.advance(1);
  assert.equal(identity.isIdentified, true);
});

test('a store that cannot keep who the VM is, is tried again until it can', async (t) => {
  const store = testStore(t);
  const save = store.outbox.identity.save.bind(store.outbox.identity);
  let failures = 3;
  store.outbox.identity.save = (known) => {
    if (failures-- > 0) throw new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
    save(known);
  };
  const { identity, time } = startIdentity(t, [KNOWN], store);
  await time.advance(1000);
  assert.equal(identity.observer.name, null);
  await time.advance(10_000);
  assert.equal(identity.observer.name, 'WestNO_0');
});
