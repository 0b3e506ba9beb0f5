// Events of several bridges → each once, by urgency, at the bridge that an approval goes to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FleetEvent, matches, mergedEvents } from '../../../../src/verbs/top/fleet-event.ts';
import type { WatchedBridge } from '../../../../src/verbs/top/watched-bridge.ts';
import { bridgeOf, eventOf } from './fleet-fixture.ts';

const names = (bridges: readonly WatchedBridge[]) => mergedEvents(bridges).map(({ event }) => event.eventId);

test('running events come first, then by NotBefore; those without one are last', () => {
  const bridge = bridgeOf('web_0', [
    eventOf('never', { notBefore: null }),
    eventOf('later', { notBefore: '2026-01-01T00:20:00Z' }),
    eventOf('soon', { notBefore: '2026-01-01T00:05:00Z' }),
    eventOf('runs', { eventStatus: 'Started', notBefore: null }),
    eventOf('worse', { notBefore: '2026-01-01T00:20:00Z', eventType: 'Terminate' }),
    eventOf('killed', { eventStatus: 'Started', notBefore: null, eventType: 'Redeploy' }),
  ]);
  assert.deepEqual(names([bridge]), ['killed', 'runs', 'soon', 'worse', 'later', 'never']);
});

test('an event of several bridges is listed once, letter case aside, and belongs to a bridge of its machine that answers', () => {
  const away = bridgeOf('web_0', [eventOf('A', { observer: { affected: true } })], { fault: 'away' });
  const other = bridgeOf('web_1', [eventOf('a', { observer: { affected: false } })]);
  const own = bridgeOf('web_2', [eventOf('A', { observer: { affected: true } })]);
  const [found, ...more] = mergedEvents([away, other, own]);
  assert.equal(more.length, 0);
  assert.deepEqual(
    [found?.bridge.name, found?.bridges.map(({ name }) => name)],
    ['web_2', ['web_0', 'web_1', 'web_2']],
  );
});

test('what one bridge knows as Started is shown as running', () => {
  const before = bridgeOf('web_0', [eventOf('a', { observer: { affected: true } })]);
  const after = bridgeOf('web_1', [eventOf('a', { eventStatus: 'Started' })]);
  assert.equal(mergedEvents([before, after])[0]?.event.eventStatus, 'Started');
});

test('a filter finds words in type, machines, EventId, approvers and bridges, all of them', () => {
  const approval = { state: 'waiting', approvedBy: [], waitingFor: ['billing'], holds: [] };
  const bridge = bridgeOf('node-7', [eventOf('C7061BAC', { resources: ['web_3'], eventType: 'Redeploy', approval })]);
  const [found] = mergedEvents([bridge]) as [FleetEvent];
  for (const filter of ['', 'redeploy', 'WEB_3', 'c7061', 'billing', 'node-7', 'web red'])
    assert.ok(matches(found, filter), filter);
  for (const filter of ['reboot', 'web_3 reboot']) assert.ok(!matches(found, filter), filter);
});
