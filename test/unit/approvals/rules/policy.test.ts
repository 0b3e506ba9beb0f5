// compilePolicy, and compileExplanation, which has to agree with it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileExplanation } from '../../../../src/approvals/rules/explain.ts';
import type { PolicyOptions, PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { compilePolicy, type PolicyDecision } from '../../../../src/approvals/rules/policy.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { ruleId } from '../../../../src/model/ids.ts';
import { START_MS, scheduledEvent } from '../../../support/events.ts';

function judge(options: PolicyOptions | null, fields: Partial<ScheduledEvent> = {}): PolicyDecision {
  return compilePolicy(options, 'any')(scheduledEvent(fields), START_MS);
}

/** `policy[1] approve`. */
function said(options: PolicyOptions | null, fields: Partial<ScheduledEvent> = {}): string {
  const { policy, then } = judge(options, fields);
  return `${policy} ${then}`;
}

/** A rule without windows and budgets. */
const AT_ANY_TIME = { during: [], otherwise: null, budgets: [] };

const DEADLINE = { beforeMs: 120_000, then: 'approve' } as const;

test('without a policy, and without a rule that matches, the event waits for those that approvals.required names', () => {
  for (const options of [null, [], [{ when: { impacts: ['Reboot'] }, then: 'approve' }]] as const) {
    const ruling = compilePolicy(options, ['orders'])(scheduledEvent(), START_MS);
    assert.deepEqual(ruling, {
      policy: null,
      rule: null,
      then: 'wait',
      required: ['orders'],
      deadline: null,
      ...AT_ANY_TIME,
    });
  }
});

test('the first rule that matches decides, and is called by its place', () => {
  const rules: PolicyRule[] = [
    { when: { impacts: ['Reboot'] }, then: 'never' },
    { when: { impacts: ['freeze'] }, then: 'approve' },
    { when: {}, then: 'wait' },
  ];
  assert.equal(said(rules), 'policy[1] approve');
  assert.equal(said(rules, { eventType: 'REBOOT' }), 'policy[0] never');
  assert.equal(said(rules, { eventType: 'Terminate' }), 'policy[2] wait');
});

test('a rule that waits has its own required and deadline, else the common one and none', () => {
  const rule: PolicyRule = { when: {}, then: 'wait', required: 'all', deadline: DEADLINE };
  assert.deepEqual(judge([rule]), {
    policy: 'policy[0]',
    rule: ruleId(rule),
    then: 'wait',
    required: 'all',
    deadline: DEADLINE,
    ...AT_ANY_TIME,
  });
  const common: PolicyRule = { when: {}, then: 'wait' };
  assert.deepEqual(judge([common]), {
    policy: 'policy[0]',
    rule: ruleId(common),
    then: 'wait',
    required: 'any',
    deadline: null,
    ...AT_ANY_TIME,
  });
});

test('a rule that approves matches by resources only if every name does, at least one', () => {
  const rules: PolicyRule[] = [{ when: { resources: ['web_*'] }, then: 'approve' }];
  assert.equal(said(rules, { resources: ['WEB_0', 'web_1'] }), 'policy[0] approve');
  for (const resources of [['web_0', 'db_0'], []])
    assert.equal(said(rules, { resources }), 'null wait', resources.join());
});

test('rules that wait, or never approve, match by any name', () => {
  for (const then of ['wait', 'never'] as const) {
    const rules: PolicyRule[] = [{ when: { resources: ['web_*'] }, then }];
    assert.equal(said(rules, { resources: ['db_0', 'web_0'] }), `policy[0] ${then}`);
    assert.equal(said(rules, { resources: ['db_0'] }), 'null wait');
    assert.equal(said(rules, { resources: [] }), 'null wait');
  }
});

test('a deadline leaves the event to Azure if the rule does not cover a name, because an approval affects all names', () => {
  const rules: PolicyRule[] = [{ when: { resources: ['web_*'] }, then: 'wait', deadline: DEADLINE }];
  assert.deepEqual(judge(rules, { resources: ['web_0'] }).deadline, DEADLINE);
  assert.deepEqual(judge(rules, { resources: ['web_0', 'db_0'] }).deadline, { ...DEADLINE, then: 'leave' });
  const anyName: PolicyRule[] = [{ when: {}, then: 'wait', deadline: DEADLINE }];
  assert.deepEqual(judge(anyName, { resources: [] }).deadline, DEADLINE);
});

test('notice is judged at the time given', () => {
  const policy = compilePolicy([{ when: { notice: { belowMs: 300_000 } }, then: 'approve' }], 'any');
  const event = scheduledEvent();
  const notBeforeMs = Date.parse(event.notBefore ?? '');
  assert.equal(policy(event, notBeforeMs - 300_000).then, 'wait');
  assert.equal(policy(event, notBeforeMs - 299_999).then, 'approve');
});

test('an unknown duration matches no condition on it', () => {
  const rules: PolicyRule[] = [{ when: { duration: { minMs: 0 } }, then: 'approve' }];
  assert.equal(said(rules, { durationInSeconds: -1 }), 'null wait');
  assert.equal(said(rules, { durationInSeconds: 0 }), 'policy[0] approve');
});

test('a SpotRebalanceRecommendation is never approved, whatever the rules say', () => {
  for (const options of [null, 'documentation', [{ when: {}, then: 'approve' }]] as const) {
    for (const eventType of ['SpotRebalanceRecommendation', 'spotrebalancerecommendation']) {
      assert.equal(said(options, { eventType, eventSource: 'User' }), 'null never');
    }
  }
});

/**
 * As the documentation's advanced sample decides (protocol 7.5): true where it posts a StartRequest for a Scheduled
 * event.
 */
function sampleApproves({ eventSource, eventType, durationInSeconds }: ScheduledEvent): boolean {
  if (eventSource === 'User') return true;
  if (eventType === 'Freeze' && durationInSeconds >= 0 && durationInSeconds < 9) return true;
  return false;
}

const anyEvent = fc
  .record({
    eventType: fc.constantFrom('Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate', 'Sleep', ''),
    eventSource: fc.constantFrom('Platform', 'User', ''),
    durationInSeconds: fc.oneof(fc.integer({ min: -2, max: 12 }), fc.integer()),
    resources: fc.array(fc.constantFrom('web_0', 'WEB_1', 'db_0', '.odd/name'), { maxLength: 3 }),
    notBefore: fc.constantFrom(null, '2022-04-11T22:26:58Z', '2022-04-11T21:00:00Z'),
  })
  .map((fields) => scheduledEvent(fields));

test("`documentation` decides every event as the documentation's sample does", () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const expected = sampleApproves(event)
        ? { policy: 'documentation', then: 'approve', required: 'all', deadline: null }
        : { policy: null, then: 'wait', required: 'all', deadline: null };
      const { rule: _, ...decision } = compilePolicy('documentation', 'all')(event, START_MS);
      assert.deepEqual(decision, { ...expected, ...AT_ANY_TIME });
    }),
  );
});

test('each rule that does not match is reported with its unmet conditions', () => {
  const explain = compileExplanation([
    { when: { impacts: ['Reboot', 'Redeploy'], initiators: ['User'] }, then: 'approve' },
    { when: { resources: ['web_*'] }, then: 'approve' },
    { when: { resources: ['db_*'] }, then: 'never' },
    { when: { notice: { belowMs: 300_000 } }, then: 'approve' },
    { when: { duration: { minMs: 9000, belowMs: 60_000 } }, then: 'approve' },
    { when: {}, then: 'wait' },
    { when: { impacts: ['Preempt'] }, then: 'wait' },
  ]);
  const { passedOver, decisive } = explain(scheduledEvent(), START_MS);
  const told = passedOver.map(({ rule, index, unmet }) => [rule, index, unmet.map(({ because }) => because)]);
  assert.deepEqual(told, [
    ['policy[0]', 0, ['asks for Reboot or Redeploy, and it is Freeze', 'asks for User, and it is from Platform']],
    ['policy[1]', 1, ['asks for every name to match web_*, and it names WestNO_0, WestNO_1']],
    ['policy[2]', 2, ['asks for a name to match db_*, and it names WestNO_0, WestNO_1']],
    ['policy[3]', 3, ['asks for less than 5m until NotBefore, and there is 26m 58s left']],
    ['policy[4]', 4, ['asks for an interruption of at least 9s and less than 1m, and it is 5s']],
  ]);
  assert.deepEqual(decisive, { when: {}, then: 'wait' });
});

test('a missing field of an event is reported in words', () => {
  const explain = compileExplanation([
    {
      when: {
        impacts: ['Freeze'],
        initiators: ['User'],
        resources: ['*'],
        notice: { aboveMs: 0 },
        duration: { belowMs: 9000 },
      },
      then: 'wait',
    },
  ]);
  const bare = scheduledEvent({
    eventType: '',
    eventSource: '',
    resources: [],
    notBefore: null,
    durationInSeconds: -1,
  });
  assert.deepEqual(
    explain(bare, START_MS).passedOver[0]?.unmet.map(({ because }) => because.split(', and ')[1]),
    ['it is of no type', 'it is from nobody', 'it names nobody', 'there is no time left', 'it is unknown'],
  );
});

test('a SpotRebalanceRecommendation passes no rule over', () => {
  const advice = scheduledEvent({ eventType: 'SpotRebalanceRecommendation' });
  assert.deepEqual(compileExplanation('documentation')(advice, START_MS), { passedOver: [], decisive: null });
});

const anyRule = fc.record(
  {
    when: fc.record(
      {
        impacts: fc.constantFrom(['Freeze'], ['reboot', 'Redeploy']),
        initiators: fc.constantFrom(['User'], ['platform']),
        resources: fc.constantFrom(['web_*'], ['*'], ['db_0', 'web_1']),
        notice: fc.constantFrom({ belowMs: 300_000 }, { aboveMs: 0 }, {}),
        duration: fc.constantFrom({ belowMs: 9000 }, { minMs: 5000 }),
      },
      { requiredKeys: [] },
    ),
    then: fc.constantFrom('approve' as const, 'wait' as const, 'never' as const),
  },
  { requiredKeys: ['when', 'then'] },
);

test('the rule that decides is the one behind those that are passed over, each of which has a reason', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 5 }), anyEvent, (rules, event) => {
      const { passedOver: passed, decisive } = compileExplanation(rules)(event, START_MS);
      const { policy } = compilePolicy(rules, 'any')(event, START_MS);
      assert.equal(policy, passed.length === rules.length ? null : `policy[${passed.length}]`);
      assert.equal(decisive, rules[passed.length] ?? null);
      for (const { unmet } of passed) assert.ok(unmet.length > 0);
    }),
  );
});
