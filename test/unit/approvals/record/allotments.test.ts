// Windows that open at one moment, and a budget → what is posted, whichever event was listed first.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { type ApprovalSettings, ApprovalsFixture } from '../../../virtual/approvals-fixture.ts';

const MINUTE_MS = 60_000;
const NOT_BEFORE = '2026-01-01T12:00:00Z';

/** The fixture begins at midnight. Redeploys must fit the budget, Reboots need not. */
const SETTINGS: ApprovalSettings = {
  windows: { morning: { days: ['Thu'], from: '03:00', to: '04:00', except: [], timeZone: 'UTC' } },
  budgets: { web: { resources: ['web_*'], atMost: 1, restMs: 0 } },
  policy: [
    { when: { impacts: ['Redeploy'] }, then: 'approve', during: ['morning'], budgets: ['web'] },
    { when: { impacts: ['Reboot'] }, then: 'approve', during: ['morning'] },
    { when: {}, then: 'wait', deadline: { beforeMs: 9 * 60 * MINUTE_MS, then: 'approve' } },
  ],
};
const EVENTS: Readonly<Record<string, Partial<ScheduledEvent>>> = {
  redeploy: { eventType: 'Redeploy', resources: ['web_0'], notBefore: NOT_BEFORE },
  reboot: { eventType: 'Reboot', resources: ['web_1'], notBefore: NOT_BEFORE },
  freeze: { eventType: 'Freeze', resources: ['web_1'], notBefore: NOT_BEFORE },
};

for (const order of [
  ['redeploy', 'reboot'],
  ['reboot', 'redeploy'],
  ['redeploy', 'freeze'],
  ['freeze', 'redeploy'],
]) {
  test(`what is due at the moment of a window counts in its budget: ${order.join(', then ')}`, async (t) => {
    const fixture = new ApprovalsFixture();
    const approvals = fixture.open(SETTINGS);
    t.after(() => fixture.close(approvals));
    for (const key of order) {
      fixture.list(key, EVENTS[key]);
      fixture.poll();
      await fixture.time.advance(MINUTE_MS);
    }
    await fixture.time.advance(180 * MINUTE_MS);
    const posted = fixture.posts.flatMap(({ eventIds }) => eventIds);
    assert.deepEqual(
      posted,
      order.filter((key) => key !== 'redeploy'),
    );
    assert.deepEqual(approvals.nextStep('redeploy').heldBackBy, ['web']);
  });
}
