// Commits that succeed or fail → the state that the flow goes on with, and what the log says.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import { BridgeError } from '../../../src/errors.ts';
import type { Instant } from '../../../src/model/events.ts';
import { Committer } from '../../../src/outbox/committer.ts';
import type { Transaction } from '../../../src/outbox/open-store.ts';
import type { Outbox } from '../../../src/outbox/outbox.ts';
import { at, entry, knownEvent, knownState, queuedIds, testStore } from '../../virtual/outbox-fixture.ts';

const FULL = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
const NOT_STORED =
  'nothing can be stored: the bridge compares again at each poll, and sends no change before it is stored';
const STORED_AGAIN = 'changes can be stored again';
const NO_TIME = 'the time of the last document could not be stored';
const nothing = () => () => {};

/** A committer on a store whose transactions and heartbeats fail while the test says so. */
function start(t: TestContext) {
  const { outbox, folder, time } = testStore(t);
  const failing: { transaction: Error | null; heartbeat: boolean } = { transaction: null, heartbeat: false };
  const beats: Instant[] = [];
  const log: { readonly level: number; readonly msg: string; readonly reason?: string }[] = [];
  const reported: { readonly id: string; readonly position: number; readonly isQueued: boolean }[] = [];
  const store = {
    known: outbox.known,
    transact: <T>(work: (transaction: Transaction) => T) => {
      if (failing.transaction !== null) throw failing.transaction;
      return outbox.transact(work);
    },
    heartbeat: (beat: Instant) => {
      beats.push(beat);
      return !failing.heartbeat;
    },
  };
  const committer = new Committer({
    outbox: store as unknown as Outbox,
    logger: pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) }),
    onCommitted: (entries) => {
      const queued = queuedIds(outbox);
      for (const { id, position } of entries) reported.push({ id, position, isQueued: queued.includes(id) });
    },
  });
  const lines = () => log.splice(0).map(({ level, msg, reason }) => [level, msg, reason]);
  return { outbox, folder, time, failing, beats, reported, committer, lines };
}

test('a commit returns the result of its work, and reports its CloudEvents once they are on disk', (t) => {
  const { committer, reported } = start(t);
  const result = committer.commit((transaction) => [
    transaction.append(entry('a:1'), ['audit'], 1),
    transaction.append(entry('b:1'), ['audit'], 1),
  ]);
  assert.deepEqual(result, [1, 2]);
  assert.deepEqual(reported, [
    { id: 'a:1', position: 1, isQueued: true },
    { id: 'b:1', position: 2, isQueued: true },
  ]);
});

test('a commit that fails throws and reports nothing; the log has the begin and the end of the fault, once', (t) => {
  const { committer, failing, reported, lines } = start(t);
  assert.equal(committer.fault, null);
  failing.transaction = FULL;
  for (let attempt = 0; attempt < 2; attempt++) {
    assert.throws(() => committer.commit((transaction) => transaction.append(entry('a:1'), ['audit'], 1)), FULL);
    assert.equal(committer.fault, 'the disk is full');
  }
  assert.deepEqual(lines(), [[50, NOT_STORED, 'the disk is full']]);
  failing.transaction = null;
  for (let attempt = 0; attempt < 2; attempt++) committer.commit(nothing);
  assert.equal(committer.fault, null);
  assert.deepEqual(lines(), [[30, STORED_AGAIN, undefined]]);
  assert.deepEqual(reported, []);
});

test('a mistake in the work of a waiting caller is its own error, and not a fault of the store', (t) => {
  const { committer, lines } = start(t);
  const mistake = new Error('a mistake');
  assert.throws(
    () =>
      committer.commit(() => {
        throw mistake;
      }),
    mistake,
  );
  assert.deepEqual([committer.fault, lines()], [null, []]);
});

test('the flow goes on after a failed commit: the last state stays, until a document is committed', (t) => {
  const { committer, failing, outbox } = start(t);
  const [first, second] = [knownState([knownEvent('a', 1)]), knownState([knownEvent('a', 1), knownEvent('b', 2)])];
  const settled: string[] = [];
  const settle = (name: string) => () => () => void settled.push(name);
  assert.equal(committer.isBehind, false);
  committer.advance({ state: first }, settle('first'));
  assert.deepEqual([committer.state, committer.isBehind], [first, false]);
  failing.transaction = FULL;
  committer.advance({ state: second }, settle('second'));
  assert.deepEqual([committer.state, committer.isBehind, committer.fault], [first, true, 'the disk is full']);
  failing.transaction = null;
  committer.advance({}, settle('other'));
  assert.equal(committer.isBehind, true, 'no document was committed');
  committer.advance({ state: second }, settle('again'));
  assert.deepEqual([committer.state, committer.isBehind], [second, false]);
  assert.deepEqual(settled, ['first', 'other', 'again']);
  assert.deepEqual([...outbox.known.load().events.keys()], ['a', 'b']);
});

test('a bug in the work of the flow ends nothing and is logged', (t) => {
  const { committer, lines } = start(t);
  const { state } = committer;
  committer.advance({}, () => {
    throw new Error('a bug');
  });
  assert.deepEqual([committer.isBehind, committer.state === state], [false, true]);
  assert.deepEqual(lines(), [[50, NOT_STORED, 'a bug']]);
  committer.advance({}, nothing);
  assert.deepEqual(lines(), [[30, STORED_AGAIN, undefined]]);
});

test('state and blindness are stored in the same commit, each only if it is given', (t) => {
  const { committer, outbox } = start(t);
  const blindness = { since: '2026-01-01T00:00:00Z', lastDocumentAt: null };
  const state = knownState([knownEvent('a', 1)]);
  committer.step({ state, blindness }, nothing);
  assert.deepEqual([committer.state, committer.blindness, outbox.known.blindness()], [state, blindness, blindness]);
  committer.step({ state: knownState([]) }, nothing, 5_000);
  assert.deepEqual([committer.state.events.size, committer.blindness], [0, blindness]);
  assert.equal(outbox.known.lastEndedMs('a'), 5_000, 'the given time counts');
  committer.step({ blindness: null }, nothing);
  assert.deepEqual([committer.blindness, outbox.known.blindness()], [null, null]);
  assert.equal(committer.state.events.size, 0, 'a step without a state changes none');
});

test('a step for a waiting caller that fails throws, and state and blindness stay', (t) => {
  const { committer, failing } = start(t);
  const state = knownState([knownEvent('a', 1)]);
  committer.step({ state }, nothing);
  failing.transaction = FULL;
  const blindness = { since: '2026-01-01T00:00:00Z', lastDocumentAt: null };
  assert.throws(() => committer.step({ state: knownState([]), blindness }, nothing), FULL);
  assert.deepEqual([committer.state, committer.blindness], [state, null]);
});

test('a step reports its CloudEvents after the caller has settled', (t) => {
  const { committer, reported } = start(t);
  const before: number[] = [];
  committer.step({}, (transaction) => {
    transaction.append(entry('a:1'), ['audit'], 1);
    return () => void before.push(reported.length);
  });
  assert.deepEqual([before, reported.map(({ id }) => id)], [[0], ['a:1']]);
});

test('a document without changes stores its time; the log says once if that fails, and when it works again', (t) => {
  const { committer, failing, beats, lines } = start(t);
  failing.transaction = FULL;
  committer.advance({ state: knownState([]) }, nothing);
  failing.transaction = null;
  committer.commit(nothing);
  lines();
  const state = knownState([], { lastGoodAt: at(7) });
  committer.keep(state);
  assert.deepEqual([committer.state, committer.isBehind, beats], [state, false, [at(7)]]);
  failing.heartbeat = true;
  for (let poll = 0; poll < 2; poll++) committer.keep(state);
  assert.equal(committer.fault, NO_TIME);
  assert.deepEqual(lines(), [[50, NOT_STORED, NO_TIME]]);
  failing.heartbeat = false;
  for (let poll = 0; poll < 2; poll++) committer.keep(state);
  assert.deepEqual([committer.fault, lines()], [null, [[30, STORED_AGAIN, undefined]]]);
});

test('before the first document there is no time to store', (t) => {
  const { committer, failing, beats, lines } = start(t);
  failing.heartbeat = true;
  committer.keep(knownState([], { lastGoodAt: null }));
  assert.deepEqual([beats, committer.fault, lines()], [[], null, []]);
});

for (const first of ['transaction', 'heartbeat'] as const) {
  test(`a time that is stored does not end a fault of transactions, which began with a ${first}`, (t) => {
    const { committer, failing, lines } = start(t);
    const state = knownState([]);
    if (first === 'heartbeat') {
      failing.heartbeat = true;
      committer.keep(state);
    }
    failing.transaction = FULL;
    committer.advance({ state }, nothing);
    failing.heartbeat = true;
    committer.keep(state);
    failing.heartbeat = false;
    committer.keep(state);
    assert.notEqual(committer.fault, null);
    assert.equal(lines().length, 1);
    failing.transaction = null;
    committer.advance({ state }, nothing);
    assert.deepEqual([committer.fault, lines()], [null, [[30, STORED_AGAIN, undefined]]]);
  });
}

for (const [what, fail] of Object.entries<(parts: ReturnType<typeof start>) => void>({
  'a commit for a waiting caller': ({ committer, failing }) => {
    failing.transaction = FULL;
    assert.throws(() => committer.commit(nothing), FULL);
  },
  'a bug in the flow': ({ committer }) =>
    committer.advance({}, () => {
      throw new Error('a bug');
    }),
})) {
  test(`a time that is stored, after one that was not, does not end the fault of ${what}`, (t) => {
    const parts = start(t);
    const { committer, failing, lines } = parts;
    const state = knownState([]);
    fail(parts);
    for (const isFailing of [false, true, false]) {
      failing.heartbeat = isFailing;
      committer.keep(state);
      assert.notEqual(committer.fault, null);
    }
    assert.equal(lines().length, 1);
  });
}

test('a poll without a good document changes the state in memory alone', (t) => {
  const { committer, outbox, beats } = start(t);
  const state = knownState([knownEvent('a', 1)]);
  committer.keepInMemory(state);
  assert.equal(committer.state, state);
  assert.deepEqual([outbox.known.load().events.size, beats], [0, []]);
});

test('the next process starts with the committed state and blindness', (t) => {
  const { committer, outbox } = start(t);
  const blindness = { since: '2026-01-01T00:00:00Z', lastDocumentAt: null };
  committer.step({ state: knownState([knownEvent('a', 1)]), blindness }, nothing);
  const next = new Committer({ outbox, logger: pino({ level: 'silent' }), onCommitted: () => {} });
  assert.deepEqual([next.state, next.blindness], [outbox.known.load(), blindness]);
  assert.deepEqual([...next.state.events.keys()], ['a']);
});
