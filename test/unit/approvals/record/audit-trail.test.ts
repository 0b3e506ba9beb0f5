// Changes to approvals → log lines, CloudEvents and transactions.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { stepOf } from '../../../../src/approvals/record/audit-steps.ts';
import { AuditTrail } from '../../../../src/approvals/record/audit-trail.ts';
import { EVENT_ID, scheduledEvent } from '../../../support/events.ts';
import {
  type ApprovalSettings,
  type ApprovalsFixture,
  approvalsOverOneEvent,
  approve,
  caller,
  change,
  KEY,
  REFUSED,
  RULES,
  said,
  startRequests,
} from '../../../virtual/approvals-fixture.ts';
import { MemoryApprovalStore } from '../../../virtual/memory-approval-store.ts';

const INFO = 30;
const ERROR = 50;
/** Reboots are of another rule, and both approvers must say yes. */
const BOTH: ApprovalSettings = {
  policy: [{ when: { impacts: ['Freeze'] }, then: 'wait', required: 'all' }],
  required: 'all',
};

function lines(fixture: ApprovalsFixture): readonly unknown[][] {
  return fixture.log
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => /^approval [a-z]+$/.test(msg))
    .map(({ level, msg, eventId, occurrence, approvers, policy, status, reason }) => {
      assert.deepEqual([eventId, occurrence, policy], [EVENT_ID, 1, 'policy[0]']);
      return [level, msg, approvers, status, reason];
    });
}

test('each step is logged with its approver, or with all who approved; a refusal is an error', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, BOTH);
  fixture.answers = [REFUSED];
  await approve(approvals);
  await approve(approvals, 'billing');
  const both = ['orders', 'billing'];
  assert.deepEqual(lines(fixture), [
    [INFO, 'approval recorded', ['orders'], null, null],
    [INFO, 'approval recorded', ['billing'], null, null],
    [INFO, 'approval decided', both, null, 'quorum'],
    [ERROR, 'approval failed', both, 403, null],
  ]);
});

test('a CloudEvent names the rule only if the event has a decision, and never with a vote', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, BOTH);
  const published = () => fixture.store.published.map(({ kind, phase, policy }) => [kind, phase, policy]);
  await approve(approvals);
  change(fixture, { durationInSeconds: 60 });
  await approve(approvals);
  await approve(approvals, 'billing');
  assert.deepEqual(published(), [
    ['approval', 'recorded', null],
    ['approval', 'failed', null],
    ['approval', 'recorded', null],
    ['approval', 'recorded', null],
    ['approval', 'submitted', 'policy[0]'],
  ]);
});

test('a vote, a hold or a release that changes nothing writes nothing', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, BOTH);
  await approve(approvals);
  approvals.hold(caller('billing'), { EventId: EVENT_ID });
  const count = fixture.store.transactions;
  await approve(approvals);
  approvals.hold(caller('billing'), { EventId: EVENT_ID });
  assert.equal(fixture.store.transactions, count);
  const steps = fixture.store.approvals.record(1, { after: 0, limit: 100 }).steps.map(({ step }) => step);
  assert.deepEqual(steps, ['recorded', 'held']);
});

test('of several votes in one request, those that are new are written', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t, { required: 'all' });
  fixture.list('B');
  fixture.poll();
  await approve(approvals);
  const answered = await approvals.request(caller('orders'), startRequests(EVENT_ID, 'B'));
  assert.equal(said(answered), '202 waiting waiting');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.recorded orders']);
  assert.equal(fixture.store.stored('b', 2)?.votes.length, 1);
});

for (const what of ['vote', 'hold', 'release'] as const) {
  test(`a ${what} of an approver whom a reload has removed is refused, and nothing is recorded`, async (t) => {
    const { fixture, approvals } = approvalsOverOneEvent(t, BOTH);
    if (what === 'release') approvals.hold(caller('orders'), { EventId: EVENT_ID });
    approvals.reload({ ...RULES, ...BOTH, approvers: { billing: {} } });
    const holds = approvals.summary(KEY)?.holds ?? [];
    const answered =
      what === 'vote'
        ? await approve(approvals)
        : what === 'hold'
          ? approvals.hold(caller('orders'), { EventId: EVENT_ID })
          : approvals.release(caller('orders'), EVENT_ID, null);
    assert.match(said(answered), /^403/);
    assert.deepEqual(approvals.summary(KEY)?.holds ?? [], holds);
    assert.deepEqual(fixture.store.stored(KEY, 1)?.votes ?? [], []);
  });
}

test('without a metric, steps are logged all the same', () => {
  const store = new MemoryApprovalStore();
  const log: string[] = [];
  const auditTrail = new AuditTrail({
    ...{ store, ports: { observerId: () => 'westno_0' } },
    logger: pino({}, { write: (line: string) => log.push(line) }),
  });
  const known = { key: KEY, occurrence: 1, event: scheduledEvent() };
  const steps = [stepOf('left', 5, 'policy[0]', { reason: 'deadline' })];
  let applied = 0;
  const pending = auditTrail.pending([{ known, before: null, after: null, steps, changes: [] }], () => applied++);
  store.commit(pending.write);
  pending.apply();
  const [line] = log.map((each) => JSON.parse(each));
  assert.deepEqual([log.length, line.msg, line.approvers, applied], [1, 'approval left', [], 1]);
});
