// Reports of drills and expectations → one sentence for each that failed.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { DrillReport } from '../../../../src/drills/report.ts';
import { failures } from '../../../../src/verbs/bridge/drill.ts';

const AT = '2026-01-01T00:00:00.000Z';

function report(changes: readonly string[], fields: Partial<DrillReport> = {}): DrillReport {
  const all = changes.map((change) => ({ change, at: AT, sinks: [{ name: 'hooks', acceptedAt: AT, attempts: 1 }] }));
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

test('a failed expectation of deliveries names each change that a sink has not accepted, with its attempts', () => {
  const sinks = [
    { name: 'hooks', acceptedAt: null, attempts: 1 },
    { name: 'audit', acceptedAt: null, attempts: 0 },
  ];
  const given = { ...report(['scheduled']), changes: [{ change: 'scheduled', at: AT, sinks }] };
  assert.deepEqual(failures(given, ['approvals', 'deliveries']).slice(1), [
    'the sink hooks has not accepted scheduled, after 1 attempt',
    'the sink audit has not accepted scheduled, after 0 attempts',
  ]);
  assert.deepEqual(failures(given, []), []);
});
