// What the instance route answers → when documents may be handled, and whom CloudEvents name.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { Identity } from '../../../src/bridge/identity.ts';
import { BridgeError } from '../../../src/errors.ts';
import type { InstanceAnswer } from '../../../src/metadata/instance.ts';
import { knownState, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';
import { settle } from '../../virtual/virtual-time.ts';

const KNOWN = {
  ...{ kind: 'known', vmId: 'vm', name: 'WestNO_0', source: '/subscriptions/s/resourcegroups/g' },
  vm: { location: 'westeurope', vmSize: 'Standard_D2s_v5', tags: { Team: 'shop', owner: 'ann' } },
} as const satisfies InstanceAnswer;
const FAILED: InstanceAnswer = {
  kind: 'failed',
  error: new BridgeError('BRIDGE_METADATA_STATUS', 'the metadata service answered 503'),
};

/** `answers` in order, the last one again and again; null is a question that gets no answer. */
function startIdentity(
  t: TestContext,
  answers: readonly (InstanceAnswer | null)[],
  store: TestStore = testStore(t),
  observerFields: readonly string[] = [],
  configuredSource: string | null = '/my/source',
  foreign: (vmId: string) => Promise<void> = async () => {},
) {
  const left = [...answers];
  const controller = new AbortController();
  t.after(() => controller.abort());
  const identity = new Identity({
    outbox: store.outbox,
    configuredSource,
    observerFields,
    instance: async () => (left.length > 1 ? left.shift() : left[0]) ?? new Promise(() => {}),
    deps: store.time,
    logger: pino({ level: 'silent' }),
    foreign,
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

/** A store that has a state, of the VM `vm`. */
function usedStore(t: TestContext): TestStore {
  const store = testStore(t);
  store.outbox.transact((transaction) => transaction.saveState(knownState([])));
  store.outbox.identity.save({ vmId: 'vm', name: 'WestNO_0', source: '/stored' });
  return store;
}

test('a stored state is presumed to be this VM’s after 5 s without an answer, a new one never is', async (t) => {
  const used = startIdentity(t, [FAILED], usedStore(t));
  await used.time.advance(4999);
  assert.equal(used.identity.isPresumed, false);
  await used.time.advance(1);
  await used.identity.presumed;
  assert.deepEqual([used.identity.isPresumed, used.identity.isIdentified], [true, false]);
  const unnamed = startIdentity(t, [FAILED], testStore(t), [], null);
  await unnamed.time.advance(3_600_000);
  assert.equal(unnamed.identity.isPresumed, false);
});

test('without a source nothing is presumed', async (t) => {
  const store = usedStore(t);
  store.outbox.identity.save({ source: null });
  const { identity, time } = startIdentity(t, [FAILED], store, [], null);
  await time.advance(60_000);
  assert.equal(identity.isPresumed, false);
});

test('the presumed VM no longer counts once the vmId differs; while the store cannot be set aside, it never becomes ours', async (t) => {
  const store = usedStore(t);
  let failures = 3;
  const foreign: string[] = [];
  const setAside = async (vmId: string) => {
    foreign.push(vmId);
    if (failures-- > 0) throw new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
    store.outbox.setAside('another VM');
  };
  const away = Array.from({ length: 7 }, () => FAILED);
  const { identity, time } = startIdentity(t, [...away, { ...KNOWN, vmId: 'copy' }], store, [], '/my/source', setAside);
  await time.advance(20_000);
  assert.deepEqual([identity.isPresumed, foreign], [true, []]);
  await time.advance(42_000);
  assert.deepEqual([identity.isPresumed, identity.isIdentified], [false, false], `${foreign}`);
  await time.advance(60_000);
  assert.deepEqual(
    [identity.isIdentified, foreign, store.outbox.identity.current.vmId],
    [true, ['copy', 'copy', 'copy', 'copy'], 'copy'],
  );
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

test('an instance route that asks for a pause gets it, 10 s at most', async (t) => {
  for (const [retryAfterMs, atMs] of [
    [8000, [0, 8000, 16_000]],
    [3_600_000, [0, 10_000, 20_000]],
    [0, [0, 1000, 3000]],
  ] as const) {
    const store = testStore(t);
    const asked: number[] = [];
    const error = new BridgeError('BRIDGE_METADATA_STATUS', 'the metadata service answered 429', {
      status: 429,
      retryAfterMs,
    });
    const controller = new AbortController();
    t.after(() => controller.abort());
    const identity = new Identity({
      ...{
        outbox: store.outbox,
        configuredSource: '/my/source',
        observerFields: [],
        deps: store.time,
        logger: pino({ level: 'silent' }),
      },
      instance: async () => {
        asked.push(store.time.elapsedMs());
        return { kind: 'failed', error };
      },
      foreign: async () => {},
    });
    void identity.run(controller.signal);
    await store.time.advance(20_000);
    assert.deepEqual(asked.slice(0, 3), atMs);
  }
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

test('the configured fields of the VM are published, and no others are stored', async (t) => {
  const store = testStore(t);
  const { identity } = startIdentity(t, [KNOWN], store, ['tags.team', 'location', 'zone']);
  await settle();
  assert.deepEqual(identity.observer, {
    name: 'WestNO_0',
    id: 'westno_0',
    vm: { location: 'westeurope', tags: { team: 'shop' } },
  });
  assert.deepEqual(store.outbox.identity.current.vm, { location: 'westeurope', tags: { team: 'shop' } });
});

test('without a demand, nothing is reported or stored, and the instance is not asked again', async (t) => {
  const store = testStore(t);
  const answers = [KNOWN, { ...KNOWN, name: 'other' }];
  const { identity, time } = startIdentity(t, answers, store);
  await time.advance(3_600_000);
  assert.deepEqual([identity.observer, store.outbox.identity.current.vm], [{ name: 'WestNO_0', id: 'westno_0' }, null]);
});

test('the stored fields are published while the instance route does not answer, if they are still configured', async (t) => {
  const store = testStore(t);
  store.outbox.identity.save({ vmId: 'vm', name: 'WestNO_0', vm: { location: 'westeurope', zone: '2' } });
  const { identity } = startIdentity(t, [FAILED], store, ['zone', 'vmSize']);
  await settle();
  assert.deepEqual(identity.observer.vm, { zone: '2' });
});

test('an edited tag is published within 10 minutes, while name and source stay until the next start', async (t) => {
  const edited: InstanceAnswer = { ...KNOWN, name: 'other', source: '/other', vm: { tags: { team: 'billing' } } };
  const { identity, time } = startIdentity(t, [KNOWN, FAILED, { ...edited, vmId: 'foreign' }, edited], testStore(t), [
    'tags.team',
  ]);
  await time.advance(3 * 600_000 - 1);
  assert.deepEqual(identity.observer.vm, { tags: { team: 'shop' } });
  await time.advance(1);
  assert.deepEqual(identity.observer, { name: 'WestNO_0', id: 'westno_0', vm: { tags: { team: 'billing' } } });
});
