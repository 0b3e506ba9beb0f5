// Two states of an event → whether the later one is worse for the VM.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ScheduledEvent } from '../../../src/model/events.ts';
import { hasWorsened } from '../../../src/model/worsened.ts';
import { scheduledEvent } from '../../support/events.ts';

const CASES: readonly [
  title: string,
  before: Partial<ScheduledEvent>,
  now: Partial<ScheduledEvent>,
  isWorse: boolean,
][] = [
  ['the same content is not worse', {}, {}, false],
  ['a higher impact is worse', { eventType: 'Freeze' }, { eventType: 'Reboot' }, true],
  ['a lower impact is not worse', { eventType: 'Terminate' }, { eventType: 'Preempt' }, false],
  ['Preempt ranks above Redeploy', { eventType: 'Redeploy' }, { eventType: 'Preempt' }, true],
  ['an impact without a rank is worse than Terminate', { eventType: 'Terminate' }, { eventType: 'Shake' }, true],
  ['another impact without a rank is worse', { eventType: 'Shake' }, { eventType: 'Bake' }, true],
  ['the same impact in another letter case is not worse', { eventType: 'Shake' }, { eventType: 'SHAKE' }, false],
  [
    'an impact that is no longer given counts as one without a rank',
    { eventType: 'Terminate' },
    { eventType: '' },
    true,
  ],
  ['a longer duration is worse', { durationInSeconds: 5 }, { durationInSeconds: 9 }, true],
  ['a shorter duration is not worse', { durationInSeconds: 9 }, { durationInSeconds: 5 }, false],
  ['a newly unknown duration is worse', { durationInSeconds: 5 }, { durationInSeconds: -1 }, true],
  ['an interruption after none is worse', { durationInSeconds: 0 }, { durationInSeconds: 1 }, true],
  ['any duration after an unknown one is not worse', { durationInSeconds: -1 }, { durationInSeconds: 900 }, false],
  ['a new name is worse', { resources: ['a'] }, { resources: ['a', 'b'] }, true],
  ['a name in another letter case is not new', { resources: ['a'] }, { resources: ['A'] }, false],
  ['fewer names are not worse', { resources: ['a', 'b'] }, { resources: ['b'] }, false],
  ['an earlier NotBefore is worse', { notBefore: '2022-04-11T22:26:58Z' }, { notBefore: '2022-04-11T22:26:57Z' }, true],
  [
    'a later NotBefore is not worse',
    { notBefore: '2022-04-11T22:26:58Z' },
    { notBefore: '2022-04-11T22:26:59Z' },
    false,
  ],
  ['a NotBefore that is removed is worse', {}, { notBefore: null }, true],
  ['a NotBefore that is added is not worse', { notBefore: null }, {}, false],
  ['another description is not worse', { description: 'a' }, { description: 'b' }, false],
];

for (const [title, before, now, isWorse] of CASES) {
  test(title, () => assert.equal(hasWorsened(scheduledEvent(before), scheduledEvent(now)), isWorse));
}

test('two changes that are not worse are not worse together', () => {
  const event = fc.record({
    eventType: fc.constantFrom('Freeze', 'Reboot', 'Terminate', 'Shake', 'Bake', ''),
    durationInSeconds: fc.constantFrom(-1, 0, 5, 9),
    resources: fc.subarray(['a', 'b', 'c']),
    notBefore: fc.constantFrom(null, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
  });
  fc.assert(
    fc.property(event, event, event, (a, b, c) => hasWorsened(a, b) || hasWorsened(b, c) || !hasWorsened(a, c)),
  );
});
