// Requests to approvals that are closing, reloading or starting → errors, refusals and what waits.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { Approvals } from '../../../src/approvals/approvals.ts';
import { BridgeError } from '../../../src/errors.ts';
import { EVENT_ID } from '../../support/events.ts';
import {
  ACCEPTED,
  ApprovalsFixture,
  approvalOnItsWay,
  approvalsOverOneEvent,
  approve,
  caller,
  KEY,
  RULES,
  said,
  startRequests,
} from '../../virtual/approvals-fixture.ts';
import { letter, ORIGIN } from '../../virtual/inbox-fixture.ts';
import { MemoryApprovalStore } from '../../virtual/memory-approval-store.ts';
import { StartQueueFixture } from '../../virtual/start-queue-fixture.ts';
import { settle } from '../../virtual/virtual-time.ts';

const ADMIN = { approvers: { orders: {}, billing: {}, ops: { admin: true } } };
const OPS = caller('ops');

test('once the bridge is stopping, every request is rejected, and the error says when to retry', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, ADMIN);
  await approvals[Symbol.asyncDispose]();
  const stopping = new BridgeError(
    'BRIDGE_APPROVALS_CLOSED',
    'The bridge is stopping and accepts no approvals. Retry after it has restarted.',
  );
  for (const request of [
    () => approvals.request(OPS, startRequests(EVENT_ID)),
    async () => approvals.hold(OPS, { EventId: EVENT_ID }),
    async () => approvals.release(OPS, EVENT_ID, null),
    () => approvals.holdAll(OPS, null),
    async () => approvals.releaseAll(OPS, null),
  ])
    await assert.rejects(request, stopping);
  assert.deepEqual(fixture.told, []);
});

test('a name of a holder that is too long is refused, and the refusal names its parameter', (t) => {
  const { approvals } = approvalsOverOneEvent(t, ADMIN);
  const released = approvals.release(OPS, EVENT_ID, 'x'.repeat(2000));
  assert.ok(released.kind === 'refusal');
  assert.equal(released.type, 'bad-request');
  assert.match(released.detail, /^\?approver= is longer than \d+ characters\.$/);
});

test('a hold of everything is answered when the StartRequest under way is', async (t) => {
  const { approvals, answer } = await approvalOnItsWay(t, ADMIN);
  let isAnswered = false;
  const held = approvals.holdAll(OPS, null).then((answered) => {
    isAnswered = true;
    return answered;
  });
  await settle();
  assert.equal(isAnswered, false);
  answer(ACCEPTED);
  assert.equal(said(await held), '201 held');
});

test('if new rules cannot be stored, the old ones stay in force', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  await approve(approvals);
  fixture.store.fault = new Error('the disk is full');
  const rules = { ...RULES, required: 'all', approvers: { billing: {} } } as const;
  assert.throws(() => approvals.reload(rules), /the disk is full/);
  fixture.store.fault = null;
  assert.equal(said(await approve(approvals)), '202 waiting');
  approvals.reload(rules);
  assert.equal(said(await approve(approvals)), '403 scope');
});

test('approvals are ready when the first document of this process has been handled', async (t) => {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open();
  t.after(() => fixture.close(approvals));
  let isReady = false;
  void approvals.ready.then(() => {
    isReady = true;
  });
  approvals.documentHandled();
  await settle();
  assert.equal(isReady, false, 'it has read none yet');
  fixture.poll();
  await settle();
  assert.equal(isReady, true);
});

test('the approvals of an occurrence are returned with their first vote, and not for a hold alone', async (t) => {
  const { approvals } = approvalsOverOneEvent(t, { required: 'all' });
  approvals.hold(caller('billing'), { EventId: EVENT_ID });
  assert.equal(approvals.approvalOf(KEY, 1), null);
  await approve(approvals);
  assert.deepEqual(
    approvals.approvalOf(KEY, 1)?.votes.map(({ approver }) => approver),
    ['orders'],
  );
});

test('approvals that nobody counts record and refuse as others do', async () => {
  const { ports, time } = new StartQueueFixture('a');
  const approvals = new Approvals({
    ...{ ...RULES, isShared: () => true, ports, deps: time, logger: pino({ level: 'silent' }) },
    store: new MemoryApprovalStore(),
  });
  approvals.start();
  const fixture = new ApprovalsFixture();
  assert.equal(said(await approvals.request(OPS, startRequests('a'))), '403 scope');
  assert.equal(await approvals.take(ORIGIN, letter(fixture, startRequests('a'))), 'settle');
});
