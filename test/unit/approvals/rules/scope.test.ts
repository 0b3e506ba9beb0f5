// A scope and an event → whether the approver is touched by it and may approve it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compileScope, isProtected } from '../../../../src/approvals/rules/scope.ts';
import type { ApprovalDecision, ApprovalVote } from '../../../../src/model/approvals.ts';
import { momentAt, scheduledEvent } from '../../../support/events.ts';

test('no scope touches and allows everything, also an event that names nobody', () => {
  const scope = compileScope({});
  assert.ok(scope.touches({ eventType: 'Freeze', resources: [] }));
  assert.ok(scope.allows({ eventType: 'Freeze', resources: [] }));
});

test('impacts are compared without case', () => {
  const scope = compileScope({ impacts: ['Freeze'] });
  assert.ok(scope.allows({ eventType: 'FREEZE', resources: [] }));
  assert.ok(!scope.allows({ eventType: 'Reboot', resources: [] }));
  assert.ok(!scope.touches({ eventType: 'Reboot', resources: [] }));
});

test('a scope by names touches an event by any of its names, and allows it by all of them', () => {
  const scope = compileScope({ resources: ['web_*', 'db_0'] });
  assert.ok(scope.touches({ eventType: 'Freeze', resources: ['WEB_1', 'cache_0'] }));
  assert.ok(!scope.allows({ eventType: 'Freeze', resources: ['WEB_1', 'cache_0'] }));
  assert.ok(scope.allows({ eventType: 'Freeze', resources: ['WEB_1', 'DB_0'] }));
});

test('a scope by names neither touches nor allows an event that names nobody', () => {
  const scope = compileScope({ resources: ['*'] });
  assert.ok(!scope.touches({ eventType: 'Freeze', resources: [] }));
  assert.ok(!scope.allows({ eventType: 'Freeze', resources: [] }));
});

test('the document is read again before a quorum is posted if a vote names what was seen, or its approver has a scope', () => {
  const vote = (approver: string, hasSeen = false): ApprovalVote => ({
    ...{ approver, via: 'token', isShared: false, hasSeen },
    ...{ at: momentAt(0), event: scheduledEvent() },
  });
  const by = (by: ApprovalDecision['by']): ApprovalDecision => ({
    ...{ by, at: momentAt(0), atOnce: false, dueMs: null, rule: null, isSpent: false, window: null },
  });
  const approvers = {
    all: {},
    empty: { scope: {} },
    freezes: { scope: { impacts: ['Freeze'] } },
    webs: { scope: { resources: ['web_*'] } },
  };
  const isRead = (decision: ApprovalDecision | null, ...votes: ApprovalVote[]) =>
    isProtected({ decision, votes }, approvers);
  assert.deepEqual(
    ['all', 'empty', 'removed', 'freezes', 'webs'].map((name) => isRead(by('quorum'), vote(name))),
    [false, false, false, true, true],
  );
  assert.equal(isRead(by('quorum'), vote('all'), vote('empty', true)), true);
  assert.deepEqual(
    [by('policy'), by('deadline'), null].map((decision) => isRead(decision, vote('webs', true))),
    [false, false, false],
  );
});
