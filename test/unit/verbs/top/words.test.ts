// Events as a bridge lists them → what happens next, in the column of `top` and in its details.
import assert from 'node:assert/strict';
import test from 'node:test';
import { nextLine, nextWords } from '../../../../src/verbs/top/words.ts';
import { bridgeOf, eventOf } from './fleet-fixture.ts';

const WINDOW = { name: 'nights', opensAt: '2026-01-02T21:00:00Z', closesAt: '2026-01-03T04:00:00Z' };
const RULE = { policy: 'policy[0]', then: 'approve', waitingFor: ['orders'], window: WINDOW };
const LATER = { action: 'approve', at: WINDOW.opensAt, by: 'policy[0]' };
const HELD_BACK = { ...LATER, at: null };

const CASES: readonly (readonly [string, object, string, string])[] = [
  [
    'an event that waits for a window',
    { rule: RULE, nextStep: LATER },
    'window nights; policy[0] approves 01-02 21:00Z',
    'waits for the window nights; if nobody acts: approved by policy[0] at 2026-01-02T21:00:00Z',
  ],
  [
    'an event that a budget holds back',
    { rule: { ...RULE, window: null }, nextStep: HELD_BACK, heldBackBy: ['databases'] },
    'held back by databases; policy[0] approves',
    'held back by the budget databases; if nobody acts: approved by policy[0] as soon as it fits',
  ],
  [
    'a window without its times counts as none',
    { rule: { ...RULE, window: { name: 'nights', opensAt: 'soon' } }, nextStep: LATER },
    'policy[0] approves 21:00:00Z',
    'if nobody acts: approved by policy[0] at 2026-01-02T21:00:00Z',
  ],
];

for (const [name, more, column, line] of CASES)
  test(name, () => {
    const event = eventOf('a', more);
    assert.equal(nextWords(event), column);
    assert.equal(nextLine(event, bridgeOf('web_0', [event])), line);
  });
