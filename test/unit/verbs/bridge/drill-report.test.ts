// Reports of drills → words on a terminal, and one sentence for each failed expectation.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { DrillReport, SinkReport } from '../../../../src/drills/report.ts';
import { actingLines, failures, isSettled, reportLines } from '../../../../src/verbs/bridge/drill-report.ts';

const AT = '2026-01-01T00:00:00.000Z';
const ACCEPTED: SinkReport = { name: 'hooks', state: 'delivered', acceptedAt: AT, attempts: 1, status: null };

function report(changes: readonly string[], fields: Partial<DrillReport> = {}): DrillReport {
  const all = changes.map((change) => ({ change, at: AT, sinks: [ACCEPTED] }));
  return {
    id: 'A',
    eventId: 'drill-A',
    state: 'ended',
    changes: all,
    approvers: [{ name: 'orders', at: AT }],
    missing: [],
    ...fields,
  };
}

test('an event is approved once it is submitted; otherwise the missing approvers or the other cause are named', () => {
  const lives = ['scheduled', 'approval.recorded', 'started', 'ended'];
  assert.deepEqual(failures(report(['scheduled', 'approval.submitted', 'started', 'ended']), ['approvals']), []);
  assert.deepEqual(failures(report(lives, { missing: ['billing'] }), ['approvals']), [
    'not approved before NotBefore: no approval by billing',
  ]);
  assert.deepEqual(failures(report(lives, { approvers: [] }), ['approvals']), ['not approved before NotBefore']);
  assert.match(
    failures(report(lives), ['approvals'])[0] ?? '',
    /all required approvers approved, but a hold, approvals\.dryRun/,
  );
});

const QUEUED: SinkReport = { name: 'audit', state: 'queued', acceptedAt: null, attempts: 0, status: null };
const DEAD: SinkReport = { name: 'pager', state: 'dead', acceptedAt: null, attempts: 1, status: 422 };

function ended(sinks: readonly SinkReport[]): DrillReport {
  return { ...report([]), changes: [{ change: 'scheduled', at: AT, sinks }] };
}

test('a failed expectation of deliveries names each change that a sink has not accepted, and what was given up', () => {
  const given = ended([QUEUED, DEAD]);
  assert.deepEqual(failures(given, ['approvals', 'deliveries']).slice(1), [
    'the sink audit has not accepted scheduled, and no attempt has ended',
    'the bridge gave up scheduled for the sink pager, after 1 attempt (422)',
  ]);
  assert.deepEqual(failures(given, []), []);
});

test('nothing more is expected of a delivery that was accepted or given up, but of a queued one', () => {
  assert.equal(isSettled(ended([ACCEPTED, DEAD, { ...DEAD, state: 'discarded' }])), true);
  assert.equal(isSettled(ended([ACCEPTED, QUEUED])), false);
});

test('a terminal gets plain words: each change, each sink, who approved and who did not', () => {
  const lines = reportLines({ ...ended([ACCEPTED, QUEUED, DEAD]), missing: ['billing'] });
  assert.deepEqual(
    lines.map(({ text }) => text),
    [
      'drill drill-A: ended',
      `${AT}  scheduled`,
      '  hooks: accepted after 0 ms',
      '  audit: not accepted yet, and no attempt has ended',
      '  pager: given up after 1 attempt (422)',
      'approved by orders after 0 s',
      'not approved by billing',
    ],
  );
});

test('the sinks that act on the machine are named, and no others', () => {
  const sinks = [
    { name: 'hooks', type: 'webhook' },
    { name: 'drain', type: 'command' },
    { name: 'node', type: 'kubernetes' },
  ];
  assert.deepEqual(actingLines(sinks), [
    'this drill is real for the sink drain (command): it runs its program',
    'this drill is real for the sink node (kubernetes): it drains the node of the machine, unless it has drills: false',
  ]);
});
