// Other tenants, cancellations, secondary impacts → how events live; docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import { shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { simulatedGroup } from '../virtual/simulated-group.ts';
import { jsonOf, type SimulatedMachine } from '../virtual/simulation.ts';

const START_MS = Date.UTC(2026, 3, 1);
const SCENARIOS = await shippedScenarios();

/** One machine that has just started this shipped scenario. */
function playing(scenario: string, vms: readonly string[] = ['vm_0']): SimulatedMachine {
  const { first } = simulatedGroup({ vms, scenarios: SCENARIOS });
  first.order('POST', `/scenarios/${scenario}`);
  return first;
}

test('on shared hardware an approved event stays Scheduled, unchanged, until the other tenants are done (F-38)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule({ otherTenants: '4m' });
  const before = first.document();
  first.approve(EventId);
  first.advance('239s');
  assert.deepEqual(first.document(), before);
  first.advance('1s');
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
});

test('on shared hardware an event stays Scheduled after its NotBefore, which does not change (F-38)', () => {
  const { first } = simulatedGroup({ startMs: START_MS });
  const { EventId } = first.schedule({ otherTenants: '4m' });
  const before = first.document();
  first.advance('1139s');
  assert.deepEqual(first.document(), before);
  assert.ok(Date.parse(before.Events[0]?.NotBefore ?? '') < START_MS + 18 * 60_000);
  first.advance('1s');
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
});

test('a second approval neither restarts the wait for other tenants nor delays a start that is due (F-38)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule({ otherTenants: '4m' });
  first.advance('14m');
  first.approve(EventId);
  first.advance('2m');
  first.approve(EventId);
  first.advance('2m');
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
});

test('changing the wait for other tenants moves the start of an event, approved or not (F-38)', () => {
  const { first } = simulatedGroup({ startMs: START_MS });
  const slower = first.schedule();
  const faster = first.schedule({ otherTenants: '1h' });
  first.order('PATCH', `/events/${slower.EventId}`, { otherTenants: '4m' });
  first.approve(faster.EventId);
  first.order('PATCH', `/events/${faster.EventId}`, { otherTenants: '17m' });
  first.advance('16m');
  assert.deepEqual(first.statuses(), [
    [slower.EventId, 'Scheduled'],
    [faster.EventId, 'Scheduled'],
  ]);
  first.advance('1m');
  assert.deepEqual(first.statuses(), [
    [slower.EventId, 'Scheduled'],
    [faster.EventId, 'Started'],
  ]);
  first.order('PATCH', `/events/${slower.EventId}`, { otherTenants: '0s' });
  first.advance('1ms');
  assert.equal(first.statuses()[0]?.[1], 'Started');
});

test('a cancelled event ends without starting, and comes back only with a new EventId (F-40)', () => {
  const { first } = simulatedGroup();
  const fields = { EventType: 'Reboot', Resources: ['sim_0'], DurationInSeconds: 30 };
  const { EventId } = first.schedule(fields);
  first.order('POST', `/events/${EventId}/cancel`);
  assert.deepEqual(first.document(), { DocumentIncarnation: 3, Events: [] });
  first.advance('1d');
  assert.deepEqual(first.document(), { DocumentIncarnation: 3, Events: [] });
  first.order('POST', '/events', { ...fields, EventId }, 409);
  assert.notEqual(first.schedule(fields).EventId, EventId);
});

test('an approval before the cancellation starts the event, which then can only end (F-40)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule();
  first.approve(EventId);
  first.order('POST', `/events/${EventId}/cancel`, undefined, 409);
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
});

test('only its disappearance shows that a Reboot which was a pause is over (F-43)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule({ EventType: 'Reboot', startedFor: '5s' });
  first.approve(EventId);
  const started = first.document();
  assert.equal(started.Events[0]?.EventType, 'Reboot');
  first.advance('4s');
  assert.deepEqual(first.document(), started);
  first.advance('1s');
  assert.deepEqual(first.document().Events, []);
});

test('while an event is Started, a second, shorter one can be listed, and end first (F-44)', () => {
  const { first } = simulatedGroup();
  const long = first.schedule({ EventStatus: 'Started', DurationInSeconds: 30 }).EventId;
  first.advance('2m');
  const short = first.schedule({ EventStatus: 'Started', DurationInSeconds: 2, startedFor: '1m' }).EventId;
  assert.deepEqual(first.statuses(), [
    [long, 'Started'],
    [short, 'Started'],
  ]);
  first.advance('1m');
  assert.deepEqual(first.statuses(), [[long, 'Started']]);
  first.advance('7m');
  assert.deepEqual(first.statuses(), []);
});

for (const [type, notice] of [
  ['Freeze', '5m'],
  ['Preempt', '3s'],
  ['Terminate', '15m'],
  ['Reboot', '0s'],
] as const) {
  test(`a ${type} can have ${notice} of notice, different from the documented least (F-45)`, () => {
    const { first } = simulatedGroup({ startMs: START_MS });
    const { EventId, NotBefore } = first.schedule({ EventType: type, notice });
    const noticeMs = { '5m': 300_000, '3s': 3000, '15m': 900_000, '0s': 0 }[notice];
    if (noticeMs > 0) {
      assert.equal(Date.parse(NotBefore) - START_MS, noticeMs);
      first.advance(`${noticeMs - 1}ms`);
      assert.deepEqual(first.statuses(), [[EventId, 'Scheduled']]);
      first.advance('1ms');
    }
    assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
  });
}

for (const length of ['50s', '5m', '2h']) {
  test(`an event can be Started for ${length} (F-46)`, () => {
    const { first } = simulatedGroup();
    first.approve(first.schedule({ startedFor: length }).EventId);
    first.advance(length);
    assert.deepEqual(first.document().Events, []);
  });
}

test('a predicted failure is days ahead, stays listed all the time, and starts to the second (F-47)', () => {
  const { first } = simulatedGroup({ startMs: START_MS });
  const { EventId, NotBefore } = first.schedule({ EventType: 'Redeploy', notice: '7d' });
  assert.equal(NotBefore, 'Wed, 08 Apr 2026 00:00:00 GMT');
  const before = first.document();
  first.advance('6d');
  first.advance('86399s');
  assert.deepEqual(first.document(), before);
  first.advance('1s');
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
});

for (const [scenario, type, source] of [
  ['live-migration', 'Freeze', 'Platform'],
  ['platform-reboot', 'Reboot', 'Platform'],
  ['memory-preserving-update', 'Freeze', 'Platform'],
  ['predicted-failure', 'Redeploy', 'Platform'],
  ['user-reboot', 'Reboot', 'User'],
  ['user-redeploy', 'Redeploy', 'User'],
  ['spot-eviction', 'Preempt', 'Platform'],
  ['terminate', 'Terminate', 'Platform'],
] as const) {
  test(`the scenario ${scenario} schedules a ${type} by the ${source} (F-50)`, () => {
    const [event] = playing(scenario).document().Events;
    assert.deepEqual([event?.EventType, event?.EventSource, event?.EventStatus], [type, source, 'Scheduled']);
  });
}

test("an event that Azure's policy approves is listed as Started, without notice (F-51)", () => {
  const [event] = playing('auto-approved-user-reboot').document().Events;
  assert.deepEqual([event?.EventSource, event?.EventStatus, event?.NotBefore], ['User', 'Started', '']);
});

test('in a group whose machines are all down, an event can start by order before its NotBefore, without approval (F-103)', () => {
  const first = playing('all-instances-down', ['web_0', 'web_1']);
  first.advance('1m');
  const [scheduled] = first.document().Events;
  assert.deepEqual([scheduled?.EventStatus, scheduled?.Resources], ['Scheduled', ['web_0', 'web_1']]);
  first.advance('2m');
  assert.equal(first.get().reset, true);
  first.advance('4m');
  assert.deepEqual(first.statuses(), [[scheduled?.EventId, 'Started']]);
  const { now } = jsonOf<{ now: string }>(first.order('GET', '/clock'));
  assert.ok(Date.parse(scheduled?.NotBefore ?? '') > Date.parse(now));
});

test('a guest OS upgrade goes through a scale set fault domain by fault domain, each with its own notice (F-49, F-52)', () => {
  const first = playing('guest-os-upgrade', ['web_0', 'web_1', 'web_2', 'web_3', 'web_4', 'web_5']);
  for (const resources of [['web_0', 'web_5'], ['web_1'], ['web_2'], ['web_3'], ['web_4']]) {
    const [event, another] = first.document().Events;
    assert.deepEqual([event?.Resources, event?.EventStatus, another], [resources, 'Scheduled', undefined]);
    first.advance('15m');
    assert.equal(first.document().Events[0]?.EventStatus, 'Started');
    first.advance('15m');
  }
  assert.deepEqual(first.document().Events, []);
});
