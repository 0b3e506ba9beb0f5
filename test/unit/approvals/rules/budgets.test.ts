// compileAllotment: rows, and a property against the names that are in use when each is approved.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Candidate, compileAllotment } from '../../../../src/approvals/rules/budgets.ts';

const DATABASES = { databases: { resources: ['db_*'], atMost: 1, restMs: 0 } };

function candidate(key: string, resources: readonly string[], minute: number | null = 0): Candidate {
  const notBefore = minute === null ? null : new Date(Date.UTC(2026, 10, 24, 0, minute)).toISOString();
  return { key, event: { notBefore, resources }, budgets: ['databases'] };
}

function heldBack(inUse: readonly (readonly string[])[], candidates: readonly Candidate[], atMost = 1): string[] {
  const allotment = compileAllotment({ databases: { ...DATABASES.databases, atMost } });
  const held = allotment.heldBack(
    inUse.map((resources) => ({ resources, endedMs: null })),
    candidates,
    0,
  );
  return [...held].filter(([, budgets]) => budgets.length > 0).map(([key]) => key);
}

test('of two events that would exceed the budget together, the one with the earlier NotBefore is approved', () => {
  assert.deepEqual(heldBack([], [candidate('a', ['db_1'], 9), candidate('b', ['db_2'], 5)]), ['a']);
});

test('at the same NotBefore the EventId decides, and an event without NotBefore comes last', () => {
  assert.deepEqual(heldBack([], [candidate('b', ['db_1']), candidate('a', ['db_2'])]), ['b']);
  assert.deepEqual(heldBack([], [candidate('a', ['db_1'], null), candidate('b', ['db_2'], 59)]), ['a']);
});

test('an event that does not fit does not stop those behind it', () => {
  const events = [
    candidate('a', ['db_1', 'db_2', 'db_3'], 1),
    candidate('b', ['db_4'], 2),
    candidate('c', ['web_1'], 3),
  ];
  assert.deepEqual(heldBack([['db_9']], events, 2), ['a']);
});

test('names count once and without case, and names that match no pattern do not count', () => {
  assert.deepEqual(heldBack([['DB_1'], ['db_1', 'web_1']], [candidate('a', ['Db_1'])]), []);
  assert.deepEqual(heldBack([['db_1'], ['db_2']], [candidate('a', ['web_1'])]), []);
});

test('an event whose own names exceed the budget waits until nothing else is in use', () => {
  assert.deepEqual(heldBack([['db_9']], [candidate('a', ['db_1', 'db_2'])]), ['a']);
  assert.deepEqual(heldBack([['web_1']], [candidate('a', ['db_1', 'db_2'])]), []);
});

test('an event is held back by each budget that it exceeds, and uses none of the others', () => {
  const allotment = compileAllotment({ ...DATABASES, all: { resources: ['*'], atMost: 2, restMs: 0 } });
  const both = { ...candidate('a', ['db_2', 'web_1']), budgets: ['all', 'databases'] };
  const behind = { ...candidate('b', ['web_2'], 1), budgets: ['all'] };
  assert.deepEqual(
    [...allotment.heldBack([{ resources: ['db_1'], endedMs: null }], [both, behind], 0)],
    [
      ['a', ['all', 'databases']],
      ['b', []],
    ],
  );
});

test('after the end of an event, its names stay in use for the rest of each budget', () => {
  const allotment = compileAllotment({
    short: { resources: ['*'], atMost: 1, restMs: 1000 },
    long: { resources: ['*'], atMost: 1, restMs: 5000 },
  });
  const uses = [{ resources: ['db_1'], endedMs: 10_000 }];
  const waiting = { ...candidate('a', ['db_2']), budgets: ['short', 'long'] };
  const heldAt = (nowMs: number) => allotment.heldBack(uses, [waiting], nowMs).get('a');
  assert.deepEqual(heldAt(10_999), ['short', 'long']);
  assert.deepEqual(heldAt(11_000), ['long']);
  assert.deepEqual(heldAt(15_000), []);
  assert.deepEqual(
    [10_000, 11_000, 15_000].map((nowMs) => allotment.nextRestEndMs(uses, nowMs)),
    [11_000, 15_000, null],
  );
});

test('what is in use of a budget is each of its machines once, with the event that ends last, until its rest is over', () => {
  const allotment = compileAllotment({ databases: { resources: ['db_*'], atMost: 3, restMs: 1000 } });
  const ended = { resources: ['DB_1', 'db_2', 'web_1'], endedMs: 10_000 };
  const later = { resources: ['db_2'], endedMs: 10_500 };
  const running = { resources: ['Db_1', 'db_3'], endedMs: null };
  const inUse = (nowMs: number) => {
    const found = allotment.inUse('databases', [running, later, ended], nowMs);
    return found?.machines.map(({ name, use, untilMs }) => [name, use, untilMs]).sort();
  };
  assert.deepEqual(inUse(10_999), [
    ['db_1', running, null],
    ['db_2', later, 11_500],
    ['db_3', running, null],
  ]);
  assert.deepEqual(inUse(11_500), [
    ['db_1', running, null],
    ['db_3', running, null],
  ]);
  assert.equal(allotment.inUse('databases', [], 0)?.atMost, 3);
  assert.equal(allotment.inUse('others', [running], 0), null);
});

const names = fc.uniqueArray(fc.constantFrom('db_1', 'DB_2', 'db_2', 'db_3', 'web_1'), { maxLength: 4 });
const database = (name: string) => name.toLowerCase().startsWith('db_');
const count = (events: readonly (readonly string[])[]) =>
  new Set(
    events
      .flat()
      .filter(database)
      .map((name) => name.toLowerCase()),
  ).size;

test('what is approved never exceeds the budget, but an event alone; the order of the input does not matter', () => {
  const arbitrary = fc.record({
    inUse: fc.array(names, { maxLength: 3 }),
    waiting: fc.array(fc.tuple(names, fc.option(fc.integer({ min: 0, max: 3 }))), { maxLength: 6 }),
    atMost: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(arbitrary, ({ inUse, waiting, atMost }) => {
      const candidates = waiting.map(([resources, minute], index) => candidate(`e${index}`, resources, minute));
      const held = new Set(heldBack(inUse, candidates, atMost));
      const approved = candidates.filter(({ key }) => !held.has(key)).map(({ event }) => event.resources);
      const adding = approved.filter((resources) => count([resources]) > 0);
      const together = count([...inUse, ...adding]);
      const isAlone = adding.some((resources) => count([resources]) === together);
      assert.ok(adding.length === 0 || together <= atMost || isAlone);
      const reversed = new Set(heldBack([...inUse].reverse(), [...candidates].reverse(), atMost));
      assert.deepEqual(reversed, held);
    }),
    { numRuns: 5000 },
  );
});

test('a budget without a configuration holds nothing back', () => {
  const { heldBack } = compileAllotment({});
  assert.deepEqual([...heldBack([], [candidate('a', ['db_1'])], 0)], [['a', []]]);
});

test('a use that has not ended has no end of a rest', () => {
  const { nextRestEndMs } = compileAllotment({ databases: { ...DATABASES.databases, restMs: 5 } });
  const open = { resources: ['db_1'], endedMs: null };
  assert.equal(nextRestEndMs([open], 0), null);
  assert.equal(nextRestEndMs([open, { ...open, endedMs: 3 }, { ...open, endedMs: 2 }], 0), 7);
});
