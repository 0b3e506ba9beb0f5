// Votes and what is required: any, a number, all, a list → enough or not, and who is waited for.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { compileAllotment } from '../../../../src/approvals/rules/budgets.ts';
import type { Required, ScopeOptions } from '../../../../src/approvals/rules/options.ts';
import { compilePolicy } from '../../../../src/approvals/rules/policy.ts';
import { ineligibilityOf, quorumOf, type Rules } from '../../../../src/approvals/rules/quorum.ts';
import { compileScope } from '../../../../src/approvals/rules/scope.ts';
import { compileCalendar } from '../../../../src/approvals/rules/windows.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { scheduledEvent } from '../../../support/events.ts';

/** Both over the rules of a bridge without a policy. */
function rules(required: Required, scopes: Readonly<Record<string, ScopeOptions>>) {
  const policy = compilePolicy(null, required);
  const compiled: Rules = {
    policy,
    calendar: compileCalendar({}),
    allotment: compileAllotment({}),
    dryRun: false,
    scopes: new Map(Object.entries(scopes).map(([name, scope]) => [name, compileScope(scope)])),
  };
  return {
    bar: (approver: string, judged: ScheduledEvent) => ineligibilityOf(compiled, policy(judged, 0), approver, judged),
    quorum: (judged: ScheduledEvent, approvers: readonly string[]) =>
      quorumOf(compiled, policy(judged, 0), judged, approvers),
  };
}

const THREE = { orders: {}, billing: {}, ops: {} };
const event = scheduledEvent({ eventType: 'Reboot', resources: ['web_0', 'web_1'] });

test('any: one yes is enough', () => {
  assert.deepEqual(rules('any', THREE).quorum(event, ['billing']), { isFull: true, waitingFor: [] });
});

test('a number: so many different approvers, and until then everybody who has not said yes is waited for', () => {
  const two = rules(2, THREE);
  assert.deepEqual(two.quorum(event, ['billing']), { isFull: false, waitingFor: ['orders', 'ops'] });
  assert.equal(two.quorum(event, ['billing', 'billing']).isFull, false);
  assert.equal(two.quorum(event, ['billing', 'ops']).isFull, true);
});

test('all: everybody whose scope touches the event, and nobody else', () => {
  const all = rules('all', { orders: {}, db: { resources: ['db_*'] }, freezes: { impacts: ['Freeze'] } });
  assert.deepEqual(all.quorum(event, ['orders']), { isFull: true, waitingFor: [] });
  assert.deepEqual(all.quorum(scheduledEvent({ resources: ['db_0'] }), ['orders']), {
    isFull: false,
    waitingFor: ['db', 'freezes'],
  });
});

test('all: one who is touched but may not approve stays waited for, so that the event is left to Azure', () => {
  const all = rules('all', { orders: {}, half: { resources: ['web_0'] } });
  assert.deepEqual(all.quorum(event, ['orders', 'half']), { isFull: false, waitingFor: ['half'] });
});

test('a list: all of its names, in its order', () => {
  const list = rules(['ops', 'orders'], THREE);
  assert.deepEqual(list.quorum(event, ['orders']), { isFull: false, waitingFor: ['ops'] });
  assert.equal(list.quorum(event, ['orders', 'ops']).isFull, true);
});

test('a list: a name outside of it may not approve, and its yes does not count', () => {
  const list = rules(['ops'], THREE);
  assert.equal(list.bar('orders', event), 'unlisted');
  assert.equal(list.quorum(event, ['orders']).isFull, false);
});

test('nobody approves a SpotRebalanceRecommendation', () => {
  const advice = scheduledEvent({ eventType: 'SpotRebalanceRecommendation' });
  assert.equal(rules('any', THREE).bar('orders', advice), 'never');
  assert.equal(rules('any', THREE).quorum(advice, ['orders']).isFull, false);
});

test('one who is not configured may not approve', () => {
  assert.equal(rules('any', THREE).bar('stranger', event), 'scope');
});

test('no quorum is full without a yes that counts', () => {
  const scope = fc.record({
    impacts: fc.constantFrom(['Freeze'], ['Reboot', 'Freeze']),
    resources: fc.constantFrom(['web_*'], ['web_0'], ['db_*']),
  });
  const required = fc.constantFrom<Required>('any', 'all', 1, 2, [], ['a'], ['a', 'b']);
  const names = fc.subarray(['web_0', 'web_1', 'db_0']);
  fc.assert(
    fc.property(
      required,
      scope,
      scope,
      names,
      fc.subarray(['a', 'b', 'stranger']),
      (need, a, b, resources, approvers) => {
        const judged = scheduledEvent({ resources });
        const all = rules(need, { a, b });
        const counting = approvers.filter((name) => all.bar(name, judged) === null);
        const { isFull, waitingFor } = all.quorum(judged, approvers);
        assert.ok(!isFull || counting.length > 0);
        assert.ok(!isFull || waitingFor.length === 0);
        assert.ok(waitingFor.every((name) => !counting.includes(name)));
      },
    ),
  );
});

test('nobody is waited for under a rule that never approves, whoever is required', () => {
  for (const required of ['any', 'all', 2, ['orders']] as const) {
    const policy = compilePolicy([{ when: {}, then: 'never' }], required);
    const scopes = new Map([['orders', compileScope({})]]);
    assert.deepEqual(quorumOf({ scopes }, policy(event, 0), event, ['orders']), { isFull: false, waitingFor: [] });
  }
});

test('if a number is required, approvers whose scope does not cover the event are not waited for', () => {
  const freezes = { impacts: ['freeze'] } as const;
  const two = rules(2, { ...THREE, network: { ...freezes } });
  assert.deepEqual(two.quorum(event, []), { isFull: false, waitingFor: ['orders', 'billing', 'ops'] });
});
