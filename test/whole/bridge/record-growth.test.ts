// Thousands of holds on one event → a store and an answer that stay small, and the newest reason.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import { Approvals } from '../../../src/approvals/approvals.ts';
import type { EventRecord } from '../../../src/approvals/views/event-record.ts';
import { approvalStore } from '../../../src/bridge/running-flow.ts';
import { Committer } from '../../../src/outbox/committer.ts';
import { context } from '../../unit/cloudevents/changes.ts';
import { caller } from '../../virtual/approvals-fixture.ts';
import { knownEvent, knownState, testStore } from '../../virtual/outbox-fixture.ts';

const ANSWER_BYTES = 160 * 1024;

interface Fixture {
  readonly approvals: Approvals;
  readonly hold: (reason: string) => void;
  readonly release: () => void;
  readonly life: (after?: number) => EventRecord;
  /** Of the store and its journal file. */
  readonly storeBytes: () => number;
}

/** The event A is Scheduled, and everything is on disk. */
function fixture(t: TestContext): Fixture {
  const { outbox, time, folder } = testStore(t);
  const event = knownEvent('a', 1);
  outbox.transact((transaction) => transaction.saveState(knownState([event])));
  const logger = pino({ level: 'silent' });
  const committer = new Committer({ outbox, logger, onCommitted: () => {} });
  const routes = { sinks: [], resources: 'all' } as const;
  const approvals = new Approvals({
    ...{ approvers: { orders: {}, billing: {} }, required: 'any', policy: null, dryRun: false, deps: time, logger },
    ...{ windows: {}, budgets: {}, group: { submit: 'every', failoverAfterMs: 10_000, members: [] } },
    isShared: () => false,
    store: approvalStore(committer, {
      speaker: () => context,
      known: () => committer.state.events,
      routes: () => routes,
      outbox,
      clock: time,
    }),
    ports: {
      ...{
        events: () => new Map([['a', event]]),
        lastReadAt: () => null,
        lastGoodAt: () => null,
        isBehind: () => false,
        isBlind: () => false,
        wasSent: () => false,
        actsOn: () => true,
        isAuthorized: () => true,
        drillApproved: () => {},
        ownName: () => null,
      },
      ...{ observerId: () => 'one', read: async () => {}, post: async () => ({ kind: 'accepted' }) },
      room: () => ({ posts: 1, inMs: 0 }),
    },
  });
  approvals.start();
  const fileBytes = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  return {
    approvals,
    hold: (reason) => assert.equal(approvals.hold(caller('orders'), { EventId: 'A', reason }).kind, 'held'),
    release: () => assert.equal(approvals.release(caller('orders'), 'A', null).kind, 'released'),
    life: (after = 0) => {
      const life = approvals.life('A', { after, limit: 200 });
      assert.ok('steps' in life);
      return life;
    },
    storeBytes: () => fileBytes('outbox.db') + fileBytes('outbox.db-wal'),
  };
}

/** 1,000 characters, 3,000 bytes. */
function reason(count: number): string {
  return String(count).padEnd(1000, '€');
}

function bytesOf(life: EventRecord): number {
  return Buffer.byteLength(JSON.stringify(life));
}

test('twelve thousand reasons of one hold: a store and an answer as small as after a hundred, the newest reason, and all of them counted', (t) => {
  const { hold, life, storeBytes, release } = fixture(t);
  for (let count = 0; count < 100; count++) hold(reason(count));
  const small = { answer: bytesOf(life()), store: storeBytes() };
  for (let count = 100; count < 12_000; count++) hold(reason(count));
  const { holds, steps } = life();
  assert.deepEqual([holds.length, holds[0]?.reason, holds[0]?.replaced?.times], [1, reason(11_999), 11_999]);
  assert.equal(steps.length, 10, 'the first reasons have lines of their own');
  assert.ok(bytesOf(life()) < small.answer + 100);
  assert.ok(storeBytes() < small.store + 8 * 1024 * 1024, `${storeBytes()} bytes after ${small.store}`);
  release();
  const ended = life()
    .steps.slice(10)
    .map(({ step, reason: told, times }) => [step, told, times]);
  assert.deepEqual(ended, [
    ['held', reason(11_999), 11_990],
    ['released', 'orders', undefined],
  ]);
});

test('holds and releases in turn, thousands of times: each has its effect, and the answers stay within their bound', (t) => {
  const { approvals, hold, release, life } = fixture(t);
  for (let count = 0; count < 3000; count++) {
    hold(reason(count));
    release();
  }
  hold('the last one');
  assert.equal(approvals.summary('a')?.state, 'held');
  assert.equal(life().holds[0]?.reason, 'the last one');
  assert.deepEqual(
    life().unwritten.map(({ approver, steps }) => [approver, steps]),
    [['orders', 5801]],
  );
  for (let after: number | null = 0; after !== null; after = life(after).next)
    assert.ok(bytesOf(life(after)) < ANSWER_BYTES);
  release();
  assert.equal(approvals.summary('a'), null, 'a release is never refused for what was before it');
});
