// Old rows → which of them pruning takes, and in what steps.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import { FIRST_PART } from '../../../src/approvals/views/queries.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import {
  append,
  approvalStep,
  bury,
  entry,
  knownEvent,
  knownState,
  queuedIds,
  type TestStore,
  testStore,
} from '../../virtual/outbox-fixture.ts';
import { eventApproval } from '../cloudevents/changes.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const RETAIN_MS = 30 * DAY_MS;

/** How many rows each table has, read from outside. */
function counts(t: TestContext, store: TestStore): (...tables: readonly string[]) => number[] {
  const reader = new DatabaseSync(join(store.folder, 'outbox.db'), { readOnly: true });
  t.after(() => reader.close());
  return (...tables) =>
    tables.map((table) => Number(reader.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']));
}

function accept(store: TestStore, atMs: number, sink = 'audit'): void {
  const rows = store.outbox.queue.queued(sink, [], 10_000);
  store.outbox.queue.settle(
    sink,
    rows.map(({ seq }) => ({ seq, result: 'accepted' })),
    atMs,
  );
}

/** Prunes until nothing more goes; returns what each step took. */
function pruneAll(store: TestStore, nowMs: number, limit?: number): number[] {
  const steps: number[] = [];
  do
    steps.push(store.outbox.retention.prune({ retainMs: RETAIN_MS, nowMs, ...(limit === undefined ? {} : { limit }) }));
  while (steps.at(-1) !== 0);
  return steps.slice(0, -1);
}

/** Journals `ids` at 0 as events that have ended at 0. */
function journalEnded(store: TestStore, ids: readonly string[], to: readonly string[] = ['audit']): void {
  const occurrence = store.outbox.known.load().nextOccurrence;
  const events = ids.map((id, index) => knownEvent(id, occurrence + index));
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState(events, { lastGoodAt: { wallMs: 0, elapsedMs: null } }));
    for (const [index, id] of ids.entries())
      transaction.append(entry(`${id}:1`, { occurrence: occurrence + index, timeMs: 0 }), to, 0);
  });
  const over = knownState([], { lastGoodAt: { wallMs: 0, elapsedMs: null }, nextOccurrence: occurrence + ids.length });
  store.outbox.transact((transaction) => transaction.saveState(over));
}

test('journal and delivered rows are deleted when they are older than retain', (t) => {
  const store = testStore(t);
  const count = counts(t, store);
  journalEnded(store, ['a', 'b']);
  accept(store, 0);
  assert.deepEqual(pruneAll(store, RETAIN_MS), [], 'not yet');
  assert.deepEqual(count('journal', 'deliveries'), [2, 2]);
  assert.deepEqual(pruneAll(store, RETAIN_MS + 1), [4]);
  assert.deepEqual(count('journal', 'deliveries'), [0, 0]);
});

test('a step counts the rows that it deletes of each kind', (t) => {
  const store = testStore(t);
  journalEnded(store, ['a', 'b'], []);
  assert.deepEqual(pruneAll(store, RETAIN_MS + 1), [2], 'the journal');
  assert.deepEqual(pruneAll(store, 400 * DAY_MS + 1), [4], 'two ids and two occurrences');
});

test('a row that is still needed is skipped, and the rows after it are deleted, in steps of any size', (t) => {
  for (const [limit, steps] of [
    [1, [1, 1, 1, 1, 1, 1, 1, 1]],
    [3, [3, 3, 2, 3]],
  ] as const) {
    const store = testStore(t);
    const count = counts(t, store);
    journalEnded(store, ['a', 'b', 'c', 'd'], ['audit']);
    journalEnded(store, ['e', 'f', 'g', 'h'], []);
    assert.deepEqual(pruneAll(store, RETAIN_MS + 1, limit), steps);
    assert.deepEqual([count('journal'), store.outbox.journalPages.pruned()], [[4], 8]);
  }
});

test('undelivered and dead-lettered rows are kept with their journal entries', (t) => {
  const store = testStore(t);
  journalEnded(store, ['dead'], ['hooks']);
  bury(store.outbox, 'hooks', 0);
  journalEnded(store, ['open'], ['audit']);
  assert.deepEqual(pruneAll(store, 300 * DAY_MS), []);
  assert.deepEqual(queuedIds(store.outbox), ['open:1']);
  assert.deepEqual(
    [...store.outbox.deadLetters.list()].map(({ id }) => id),
    ['dead:1'],
  );
  store.outbox.deadLetters.discard({});
  assert.deepEqual(pruneAll(store, 300 * DAY_MS), [1]);
});

test('an entry delivered to one sink and open at another stays', (t) => {
  const store = testStore(t);
  journalEnded(store, ['a'], ['audit', 'hooks']);
  accept(store, 0);
  assert.deepEqual(pruneAll(store, 300 * DAY_MS), [1], 'the delivered row alone');
  assert.deepEqual(queuedIds(store.outbox, 'hooks'), ['a:1']);
});

test('the journal of an event that has not ended stays, however old', (t) => {
  const store = testStore(t);
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState([knownEvent('a', 1)]));
    transaction.append(entry('a:scheduled', { timeMs: 0 }), ['audit'], 0);
  });
  accept(store, 0);
  pruneAll(store, 500 * DAY_MS);
  assert.equal(store.outbox.journal.seen('a:scheduled')?.key, 'a');
  assert.equal(store.outbox.journal.isUsed('a:scheduled'), true);
  assert.equal(store.outbox.sinks.wasSent('audit', 1), true);
});

test('entries about the source, which belong to no event, are deleted only by age', (t) => {
  const store = testStore(t);
  append(store, [entry('source-blind:1', { change: 'source.blind', key: null, occurrence: null, timeMs: 0 })]);
  accept(store, 0);
  assert.deepEqual(pruneAll(store, RETAIN_MS + 1), [2]);
});

test('used ids and the ends of events are stored for 400 days', (t) => {
  const store = testStore(t);
  const count = counts(t, store);
  journalEnded(store, ['a']);
  accept(store, 0);
  pruneAll(store, 400 * DAY_MS);
  assert.deepEqual(
    [store.outbox.journal.isUsed('a:1'), store.outbox.known.lastEndedMs('a'), store.outbox.sinks.wasSent('audit', 1)],
    [true, 0, true],
  );
  assert.equal(store.outbox.journal.seen('a:1'), null, 'though its journal entry is gone');
  pruneAll(store, 400 * DAY_MS + 1);
  assert.deepEqual(
    [store.outbox.journal.isUsed('a:1'), store.outbox.known.lastEndedMs('a'), store.outbox.sinks.wasSent('audit', 1)],
    [false, null, false],
  );
  assert.deepEqual(count('used_ids', 'occurrences', 'sink_occurrences', 'journal', 'deliveries'), [0, 0, 0, 0, 0]);
});

test('approvals and their record are deleted with the data of their event, and no others', (t) => {
  const store = testStore(t);
  const count = counts(t, store);
  store.outbox.transact((transaction) => {
    transaction.saveState(knownState([knownEvent('a', 1), knownEvent('b', 2)]));
    for (const occurrence of [1, 2]) {
      transaction.saveApproval(eventApproval({ occurrence }));
      transaction.addSteps(occurrence, [approvalStep('recorded'), approvalStep('decided')]);
    }
  });
  pruneAll(store, 500 * DAY_MS);
  assert.deepEqual(count('approvals', 'approval_steps'), [2, 4]);
  const over = knownState([knownEvent('b', 2)], { lastGoodAt: { wallMs: 0, elapsedMs: null } });
  store.outbox.transact((transaction) => transaction.saveState(over));
  pruneAll(store, 400 * DAY_MS);
  assert.deepEqual(count('approvals', 'approval_steps'), [2, 4]);
  pruneAll(store, 400 * DAY_MS + 1);
  assert.deepEqual(count('approvals', 'approval_steps'), [1, 2]);
  assert.deepEqual([store.outbox.approvals.of(1), store.outbox.approvals.record(1, FIRST_PART).steps], [null, []]);
  assert.equal(store.outbox.approvals.record(2, FIRST_PART).steps.length, 2);
});

test('with a longer retain, ids are stored as long as the journal', (t) => {
  const store = testStore(t);
  journalEnded(store, ['a']);
  accept(store, 0);
  store.outbox.retention.prune({ retainMs: 1000 * DAY_MS, nowMs: 900 * DAY_MS });
  assert.equal(store.outbox.journal.seen('a:1')?.key, 'a');
});

test('no step reads more rows than its limit, and together they read all', (t) => {
  const store = testStore(t);
  journalEnded(
    store,
    Array.from({ length: 25 }, (_, index) => `e${index}`),
  );
  accept(store, 0);
  const steps = pruneAll(store, RETAIN_MS + 1, 10);
  assert.ok(
    steps.every((deleted) => deleted <= 20),
    `10 delivered rows and 10 journal rows at most: ${steps}`,
  );
  assert.equal(
    steps.reduce((sum, deleted) => sum + deleted, 0),
    50,
  );
});

test('rows that must stay do not block pruning of later rows', (t) => {
  const store = testStore(t);
  const count = counts(t, store);
  journalEnded(
    store,
    Array.from({ length: 25 }, (_, index) => `dead${index}`),
    ['hooks'],
  );
  bury(store.outbox, 'hooks', 0);
  journalEnded(store, ['a', 'b']);
  accept(store, 0);
  pruneAll(store, RETAIN_MS + 1, 10);
  assert.deepEqual(count('journal', 'deliveries'), [25, 25]);
});

test('the file keeps the pages that pruning frees, and uses them again; made small by hand it has every row, and works on', (t) => {
  const store = testStore(t);
  const file = join(store.folder, 'outbox.db');
  const ids = (name: string) => Array.from({ length: 300 }, (_, index) => `${name}${index}`);
  const bytes = () => {
    // Closed, it has no log beside it.
    store.outbox.close();
    const { size } = statSync(file);
    Object.assign(store, { outbox: openOutbox(store.folder, { deps: store.time, lock: true }) });
    return size;
  };
  const fill = (name: string) => {
    journalEnded(store, ids(name));
    accept(store, 1);
  };
  fill('first');
  const full = bytes();
  pruneAll(store, RETAIN_MS + DAY_MS);
  const pruned = bytes();
  fill('second');
  const again = bytes();
  assert.ok(pruned >= full, 'a prune makes it no smaller');
  assert.ok(again < full * 1.5, `${again} bytes, ${full} before`);
  pruneAll(store, RETAIN_MS + DAY_MS);
  append(store, [entry('waits:1', { timeMs: RETAIN_MS })]);
  store.outbox.close();
  {
    using byHand = new DatabaseSync(file);
    byHand.exec('VACUUM');
  }
  const small = statSync(file).size;
  assert.ok(small < full * 0.8, `${small} of ${full} bytes`);
  Object.assign(store, { outbox: openOutbox(store.folder, { deps: store.time, lock: true }) });
  assert.deepEqual(queuedIds(store.outbox), ['waits:1']);
  fill('third');
  assert.deepEqual(queuedIds(store.outbox), []);
});

const RETAINED = { memoryMs: RETAIN_MS, what: 'as long as the journal' };
const REMEMBERED = { memoryMs: 400 * DAY_MS, what: 'for 400 days' };
for (const [table, { memoryMs, what }, row] of [
  ['deliveries', RETAINED, "(1, 'audit', 99, 'a', 0, 'delivered', 1, NULL, 202, 0, 0)"],
  ['delivery_notes', RETAINED, "('audit', 99, 'pid 7', 0)"],
  ['discarded', RETAINED, "(99, 'audit', 99, 1, 400, 0)"],
  ['drills', RETAINED, "('drill', 99, '{}', 'ann', 0, 0, 0, 'ended', '[]')"],
  ['operator_acts', REMEMBERED, "(1, 0, 'ann', 'pause', 'audit', '{}')"],
  ['handled_messages', REMEMBERED, "('broker', 'm1', 0, NULL, NULL)"],
  ['occurrences', REMEMBERED, "(99, 'a', 0, 0, 0, NULL)"],
] as const)
  test(`a lone row of ${table} is stored ${what}, and its pruning is counted`, (t) => {
    const store = testStore(t);
    const count = counts(t, store);
    using writer = new DatabaseSync(join(store.folder, 'outbox.db'));
    writer.exec(`INSERT INTO ${table} VALUES ${row}`);
    const prune = (nowMs: number) => store.outbox.retention.prune({ retainMs: RETAIN_MS, nowMs });
    assert.deepEqual([prune(memoryMs), ...count(table)], [0, 1]);
    assert.deepEqual([prune(memoryMs + 1), ...count(table), prune(memoryMs + 1)], [1, 0, 0]);
  });
