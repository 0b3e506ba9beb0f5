// What operators do → the store, the lanes, the log and the record.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import { Operations } from '../../../src/bridge/operations.ts';
import { append, bury, entry, testStore } from '../../virtual/outbox-fixture.ts';

const RUNNING = [{ seq: 7, eventId: 'A', sinceMs: 1000, attempt: 2, last: 'connections left: 3' }];
const RUNNING_VIEW = { since: '1970-01-01T00:00:01.000Z', attempt: 2, last: 'connections left: 3' };

function operations(t: TestContext) {
  const store = testStore(t);
  const log: { operator?: string; msg: string }[] = [];
  let wakes = 0;
  const sinks = {
    types: () => new Map([['audit', 'webhook']]),
    status: () => new Map(),
    running: () => new Map([['audit', RUNNING]]),
    wake: () => {
      wakes += 1;
    },
  };
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const served = new Operations({ outbox: store.outbox, sinks, deps: store.time, logger });
  const acts = () =>
    store.outbox.operatorActs.last(9).map(({ act, operator, subject }) => `${operator} ${act} ${subject}`);
  return { ...store, store, served, log, acts, wakes: () => wakes };
}

test('a pause and a resume wake the lane and are logged; they are in the record if they changed something', async (t) => {
  const { served, acts, log, wakes } = operations(t);
  assert.equal((await served.pause('audit', 'orders'))?.state, 'paused');
  assert.equal((await served.pause('audit', 'billing'))?.state, 'paused');
  assert.equal((await served.resume('audit', 'billing'))?.state, 'delivering');
  assert.equal(await served.pause('hooks', 'orders'), null, 'it is in the store, and no longer configured');
  assert.deepEqual(acts(), ['billing resume audit', 'orders pause audit']);
  assert.deepEqual(
    log.map(({ operator }) => operator),
    ['orders', 'billing', 'billing'],
  );
  assert.equal(wakes(), 3);
});

test('of two admins who retry the same, one does it, and the other learns that it is done', (t) => {
  const { served, store, acts } = operations(t);
  append(store, [entry('a:1')]);
  bury(store.outbox);
  assert.equal(served.decide('retry', 'audit', ['a:1'], 'orders'), 1);
  assert.deepEqual(served.decide('retry', 'audit', ['a:1'], 'billing'), ['a:1']);
  assert.deepEqual(acts(), ['orders retry audit']);
  assert.equal(served.decide('retry', 'nobody', ['a:1'], 'orders'), null);
});

test('what a removed sink left behind can be discarded, not retried', (t) => {
  const { served, store } = operations(t);
  append(store, [entry('a:1')], ['hooks']);
  bury(store.outbox, 'hooks');
  assert.equal(served.decide('retry', 'hooks', ['a:1'], 'orders'), null);
  assert.equal(served.decide('discard', 'hooks', ['a:1'], 'orders'), 1);
});

test('a sink shows what waits, what was accepted last and what went wrong last', (t) => {
  const { served, store } = operations(t);
  append(store, [entry('a:1'), entry('b:1')]);
  const [first] = store.outbox.queue.queued('audit', [], 1);
  const error = { code: 'BRIDGE_DELIVERY_FAILED', message: 'it failed', atMs: 1000 };
  store.outbox.queue.settle('audit', [{ seq: first?.seq ?? 0, result: 'accepted' }], 2000, error);
  const [view] = served.sinks();
  assert.deepEqual(view, {
    ...{
      name: 'audit',
      type: 'webhook',
      state: 'delivering',
      queued: 1,
      oldestAt: new Date(store.time.wallMs()).toISOString(),
    },
    lastAcceptedAt: '1970-01-01T00:00:02.000Z',
    lastError: { code: 'BRIDGE_DELIVERY_FAILED', message: 'it failed', at: '1970-01-01T00:00:01.000Z' },
    deadLetters: 0,
    running: [{ eventId: 'A', ...RUNNING_VIEW }],
  });
  assert.deepEqual(served.running(), new Map([[7, RUNNING_VIEW]]));
});
