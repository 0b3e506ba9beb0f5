// Many lines for one occurrence's record → how many are written, how they are counted and read.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type ApprovalStep, AWAITED_ANSWER, LOST_ANSWER, type RecordPart } from '../../../src/model/approvals.ts';
import { Database } from '../../../src/outbox/database.ts';
import { MIGRATIONS, migrate } from '../../../src/outbox/migrations/schema.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { approvalStep, type TestStore, testStore } from '../../virtual/outbox-fixture.ts';

const PART_BYTES = 128 * 1024;

function add(store: TestStore, times: number, step: (place: number) => ApprovalStep): void {
  store.outbox.transact((transaction) => {
    for (let place = 0; place < times; place++) transaction.addSteps(1, [step(place)]);
  });
}

/** All parts, one after the other. */
function parts(store: TestStore, limit: number): readonly RecordPart[] {
  const read: RecordPart[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const part: RecordPart = store.outbox.approvals.record(1, { after, limit });
    read.push(part);
    after = part.next;
  }
  return read;
}

test('an approver has two hundred lines in the record of an occurrence; further steps are counted, with their first and last time', (t) => {
  const store = testStore(t);
  add(store, 12_000, (place) =>
    approvalStep(place % 2 === 0 ? 'held' : 'released', { approver: 'orders', atMs: place }),
  );
  add(store, 3, () => approvalStep('held', { approver: 'billing' }));
  const record = parts(store, 200);
  assert.equal(record.flatMap(({ steps }) => steps).filter(({ approver }) => approver === 'orders').length, 200);
  assert.equal(
    record.flatMap(({ steps }) => steps).filter(({ approver }) => approver === 'billing').length,
    3,
    'nobody pays for another',
  );
  assert.deepEqual(record[0]?.unwritten, [{ approver: 'orders', steps: 11_800, sinceMs: 200, untilMs: 11_999 }]);
  store.outbox.transact((transaction) => transaction.addSteps(2, [approvalStep('held', { approver: 'orders' })]));
  assert.equal(
    store.outbox.approvals.record(2, { after: 0, limit: 10 }).steps.length,
    1,
    'another occurrence has its own',
  );
});

test('decisions and answers are bounded too, but the end is always written', (t) => {
  const store = testStore(t);
  add(store, 2000, (place) => approvalStep(place % 2 === 0 ? 'decided' : 'dropped', { atMs: place }));
  add(store, 1, () => approvalStep('submitted', { atMs: 7777, status: 200 }));
  add(store, 1, () => approvalStep('confirmed'));
  const steps = parts(store, 200).flatMap((part) => part.steps);
  assert.deepEqual([steps.length, steps.at(-2)?.step, steps.at(-1)?.step], [502, 'submitted', 'confirmed']);
  const [first] = parts(store, 1);
  assert.deepEqual(
    [first?.submittedMs, first?.unwritten],
    [7777, [{ approver: null, steps: 1500, sinceMs: 500, untilMs: 1999 }]],
  );
});

test('a full record still gets lost and awaited answers, and each kind of end', (t) => {
  const store = testStore(t);
  add(store, 500, () => approvalStep('decided'));
  const last = [
    approvalStep('answered', { reason: LOST_ANSWER }),
    approvalStep('answered', { reason: 'gone' }),
    approvalStep('answered', { reason: AWAITED_ANSWER }),
    approvalStep('decided', { reason: LOST_ANSWER }),
    approvalStep('moot'),
    approvalStep('unknown', { times: 3 }),
  ];
  store.outbox.transact((transaction) => transaction.addSteps(1, last));
  const steps = parts(store, 200).flatMap((part) => part.steps);
  const written = last.filter((_, place) => [0, 2, 4, 5].includes(place));
  assert.deepEqual(steps.slice(500), written);
});

test('the counts survive the process', (t) => {
  const store = testStore(t);
  add(store, 150, () => approvalStep('held', { approver: 'orders' }));
  store.outbox.close();
  using again = openOutbox(store.folder, { deps: store.time, lock: true });
  again.transact((transaction) =>
    transaction.addSteps(
      1,
      Array.from({ length: 100 }, () => approvalStep('held', { approver: 'orders' })),
    ),
  );
  assert.equal(again.approvals.record(1, { after: 0, limit: 1 }).unwritten[0]?.steps, 50);
});

test('the parts of a record have every line once and in order, for any limit', (t) => {
  const store = testStore(t);
  add(store, 30, (place) => approvalStep('answered', { atMs: place }));
  for (const limit of [1, 7, 29, 30, 31]) {
    const read = parts(store, limit);
    assert.deepEqual(
      read.flatMap(({ steps }) => steps.map(({ atMs }) => atMs)),
      Array.from({ length: 30 }, (_, place) => place),
    );
    assert.ok(read.every(({ steps }) => steps.length <= limit));
  }
  assert.deepEqual(
    store.outbox.approvals.record(1, { after: 1_000_000, limit: 10 }).steps,
    [],
    'behind the end there is nothing',
  );
});

test('a part has at most 128 KiB, however long its lines are, and at least one line', (t) => {
  const store = testStore(t);
  add(store, 150, () => approvalStep('held', { approver: 'orders', reason: '\u0001'.repeat(1000) }));
  add(store, 1, () => approvalStep('held', { approver: 'billing', reason: 'x'.repeat(2 * PART_BYTES) }));
  const read = parts(store, 200);
  assert.equal(read.flatMap(({ steps }) => steps).length, 151);
  for (const { steps } of read) assert.ok(steps.length === 1 || Buffer.byteLength(JSON.stringify(steps)) <= PART_BYTES);
});

test('a record that grew under an earlier release is read in parts, and grows no further', (t) => {
  const store = testStore(t);
  store.outbox.close();
  const file = join(store.folder, 'outbox.db');
  rmSync(file);
  {
    using database = new Database(file, { synchronous: 'OFF' });
    migrate(database, MIGRATIONS.slice(0, 4));
    const line = database.prepare(
      `INSERT INTO approval_steps (occurrence, step, at_ms, approver, reason) VALUES (1, 'held', 5, 'orders', ?)`,
    );
    database.transaction(() => {
      for (let place = 0; place < 5000; place++) line.run('€'.repeat(1000));
    });
  }
  using newer = openOutbox(store.folder, { deps: store.time, lock: true });
  newer.transact((transaction) => transaction.addSteps(1, [approvalStep('held', { approver: 'orders', atMs: 9 })]));
  const part = newer.approvals.record(1, { after: 0, limit: 200 });
  assert.ok(Buffer.byteLength(JSON.stringify(part)) < PART_BYTES + 1000);
  assert.deepEqual(part.unwritten, [{ approver: 'orders', steps: 1, sinceMs: 9, untilMs: 9 }]);
});
