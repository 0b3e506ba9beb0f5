// govern and isPast: which ruling is in force, and whether its deadline may still decide.
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Governed, GovernedEvents, govern, isPast } from '../../../../src/approvals/rules/governed.ts';
import type { PolicyRule } from '../../../../src/approvals/rules/options.ts';
import { compilePolicy, type PolicyDecision } from '../../../../src/approvals/rules/policy.ts';
import { compileCalendar } from '../../../../src/approvals/rules/windows.ts';
import type { ScheduledEvent } from '../../../../src/model/events.ts';
import { momentAt, START_MS, scheduledEvent } from '../../../support/events.ts';

const MINUTE_MS = 60_000;
const RULES: readonly PolicyRule[] = [
  { when: { impacts: ['Reboot'] }, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then: 'leave' } },
  { when: {}, then: 'wait', deadline: { beforeMs: 2 * MINUTE_MS, then: 'approve' } },
];

/** Of an event with NotBefore in minute 15, at a minute. */
function governedAt(minute: number, before: Governed | null = null, fields: Partial<ScheduledEvent> = {}): Governed {
  const notBefore = new Date(START_MS + 15 * MINUTE_MS).toISOString();
  return govern(
    { policy: compilePolicy(RULES, 'any'), calendar: compileCalendar({}) },
    scheduledEvent({ notBefore, ...fields }),
    momentAt(minute * MINUTE_MS),
    before,
  );
}

const DONE = { ...governedAt(0), isDone: true };

test('a deadline is its time before NotBefore, and is done if that is no longer ahead', () => {
  assert.equal(governedAt(0).dueMs, START_MS + 13 * MINUTE_MS);
  assert.equal(governedAt(0).isDone, false);
  assert.equal(governedAt(12.999).isDone, false);
  assert.equal(governedAt(13).isDone, true);
});

test('without NotBefore, or without a deadline, there is nothing to wait for', () => {
  const { dueMs, isDone } = governedAt(0, null, { notBefore: null });
  assert.deepEqual([dueMs, isDone], [null, true]);
  const free = govern(
    { policy: compilePolicy(null, 'any'), calendar: compileCalendar({}) },
    scheduledEvent(),
    momentAt(0),
    null,
  );
  assert.deepEqual([free.dueMs, free.isDone], [null, true]);
});

test('a deadline that neither moved nor changed its rule stays as it was: still to come, though late, or done', () => {
  assert.equal(governedAt(14, governedAt(0)).isDone, false);
  assert.equal(governedAt(1, DONE).isDone, true);
});

test('a deadline that moved, or belongs to another rule, is computed again', () => {
  const later = { notBefore: new Date(START_MS + 30 * MINUTE_MS).toISOString() };
  assert.equal(governedAt(1, DONE, later).isDone, false);
  assert.equal(governedAt(29, governedAt(0), later).isDone, true);
  assert.equal(governedAt(1, DONE, { eventType: 'Reboot' }).isDone, false);
  assert.equal(governedAt(14, governedAt(0), { eventType: 'Reboot' }).isDone, true);
});

test('it is in force since the moment of the change', () => {
  assert.deepEqual(governedAt(3, DONE).since, momentAt(3 * MINUTE_MS));
});

test('NotBefore has passed from its moment on; without one it never has', () => {
  const event = scheduledEvent({ notBefore: new Date(START_MS).toISOString() });
  assert.deepEqual(
    [isPast(event, START_MS - 1), isPast(event, START_MS), isPast(scheduledEvent({ notBefore: null }), START_MS)],
    [false, true, false],
  );
});

/** The decision of a rule that approves in windows, of which one opens after so many minutes. */
function inWindow(rule: Partial<PolicyDecision>, opensMinute: number | null): Governed {
  const matched = { ...compilePolicy(RULES, 'any')(scheduledEvent(), 0), then: 'approve', ...rule } as const;
  const fromMs = START_MS + (opensMinute ?? 0) * MINUTE_MS;
  const opening = opensMinute === null ? null : { window: 'nights', fromMs, untilMs: fromMs + MINUTE_MS };
  const notBefore = new Date(START_MS + 15 * MINUTE_MS).toISOString();
  return govern(
    { policy: () => matched, calendar: () => opening },
    scheduledEvent({ notBefore }),
    momentAt(MINUTE_MS),
    null,
  );
}

for (const [what, rule, opensMinute, then, dueMinute] of [
  ['without windows approves, whatever follows them', { during: [], otherwise: 'wait' }, null, 'approve', null],
  ['whose window opens approves then', { during: ['nights'], otherwise: 'wait' }, 14, 'approve', null],
  ['whose window opens at NotBefore waits', { during: ['nights'], otherwise: 'wait' }, 15, 'wait', 13],
  ['whose window does not open waits', { during: ['nights'], otherwise: 'wait' }, null, 'wait', 13],
  ['whose window does not open is left', { during: ['nights'], otherwise: null }, null, 'approve', null],
] as const) {
  test(`a rule ${what}`, () => {
    const { ruling, dueMs } = inWindow(rule, opensMinute);
    const due = dueMinute === null ? null : START_MS + dueMinute * MINUTE_MS;
    assert.deepEqual([ruling.then, dueMs], [then, due]);
  });
}

test('the end of an earlier occurrence does not remove the decision for the next one', () => {
  const governed = governedAt(0);
  const events = new GovernedEvents({ policy: compilePolicy(RULES, 'any'), calendar: compileCalendar({}) }, () => {});
  const known = { key: 'a', occurrence: 2, event: scheduledEvent() };
  events.keep(known, governed);
  events.forget({ ...known, occurrence: 1 });
  assert.deepEqual(events.governedEventOf(known), { known, governed });
  events.forget(known);
  assert.equal(events.governedEventOf(known), null);
});
