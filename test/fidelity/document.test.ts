// The document's content, and its ETag; rows of docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { WireEvent } from '../../src/simulator/events/event.ts';
import { scriptOf, simulatedGroup } from '../virtual/simulated-group.ts';
import { jsonOf, textOf } from '../virtual/simulation.ts';

for (const seconds of [0, 9, 30, -1]) {
  test(`a duration of ${seconds} is listed as a number and does not affect how long the event is listed (F-24)`, () => {
    const { first } = simulatedGroup();
    first.schedule({ DurationInSeconds: seconds, EventStatus: 'Started' });
    first.advance('9m');
    assert.equal(first.document().Events[0]?.DurationInSeconds, seconds);
    first.advance('1m');
    assert.deepEqual(first.document().Events, []);
  });
}

test('an event without a Description gets that of real events of its type and source, or an empty one (F-26)', () => {
  const { first } = simulatedGroup();
  const sentence = (EventType: string, EventSource: string) => first.schedule({ EventType, EventSource }).Description;
  assert.equal(sentence('Reboot', 'User'), 'Virtual machine is going to be restarted as requested by authorized user.');
  assert.equal(
    sentence('Redeploy', 'User'),
    'Virtual machine is going to be redeployed as requested by authorized user.',
  );
  assert.equal(sentence('Reboot', 'Platform'), 'Host server is undergoing maintenance.');
  assert.equal(sentence('Redeploy', 'Platform'), 'Virtual machine has encountered a failure.');
  for (const type of ['Freeze', 'Preempt', 'Terminate', 'SpotRebalanceRecommendation', 'Pause'])
    assert.equal(sentence(type, 'Platform'), '');
  for (const type of ['Freeze', 'Reboot']) assert.equal(sentence(type, 'Someone'), '');
});

test('source, description and names are listed as given, even if empty (F-25, F-26, F-27)', () => {
  const { first } = simulatedGroup({ vms: ['a', 'b'] });
  for (const given of [
    { EventSource: 'User', Description: '', Resources: [] },
    { EventSource: 'Platform', Description: 'as Azure writes it', Resources: ['FrontEnd_IN_0', 'WestNO_0'] },
    { EventSource: 'Someone', Resources: ['only-another'] },
  ] satisfies Partial<WireEvent>[]) {
    const event: object = first.schedule(given);
    for (const [key, value] of Object.entries(given)) assert.deepEqual((event as Record<string, unknown>)[key], value);
  }
  assert.deepEqual(first.schedule().Resources, ['a', 'b']);
});

test("an event has the service's bytes: the same order of keys, no white space (F-54, F-98)", () => {
  const { first } = simulatedGroup({ vms: ['WestNO_0', 'WestNO_1'], startMs: Date.UTC(2022, 3, 11, 22, 11, 58) });
  // Given in another order, and changed later.
  const { EventId } = first.schedule({
    DurationInSeconds: 9,
    EventId: 'C7061BAC',
    EventSource: 'Platform',
    EventType: 'Freeze',
  });
  first.order('PATCH', `/events/${EventId}`, {
    Description: 'A migration.',
    DurationInSeconds: 5,
    Resources: ['WestNO_0'],
  });
  const oldest = (status: string, name: string, notBefore: string) =>
    `"EventId":"C7061BAC","EventStatus":"${status}","EventType":"Freeze","ResourceType":"VirtualMachine","Resources":["${name}"],"NotBefore":"${notBefore}"`;
  const newer = ',"Description":"A migration.","EventSource":"Platform","DurationInSeconds":5';
  const bytes = (version: string) => textOf(first.get(`/metadata/scheduledevents?api-version=${version}`));
  const notBefore = 'Mon, 11 Apr 2022 22:26:58 GMT';
  assert.equal(
    bytes('2020-07-01'),
    `{"DocumentIncarnation":3,"Events":[{${oldest('Scheduled', 'WestNO_0', notBefore)}${newer}}]}`,
  );
  assert.equal(
    bytes('2017-03-01'),
    `{"DocumentIncarnation":3,"Events":[{${oldest('Scheduled', '_WestNO_0', notBefore)}}]}`,
  );
  first.approve(EventId);
  assert.equal(
    bytes('2024-07-09'),
    `{"DocumentIncarnation":4,"Events":[{${oldest('Started', 'WestNO_0', '')}${newer}}]}`,
  );
});

test('a scenario can skip incarnations and restart them (F-16)', () => {
  const { first } = simulatedGroup({
    scenarios: [
      scriptOf(
        { afterMs: 0, action: { kind: 'schedule', fields: { DurationInSeconds: 5 } } },
        { afterMs: 1000, action: { kind: 'incarnation', skip: 2 } },
        { afterMs: 2000, action: { kind: 'incarnation', skip: 'restart' } },
      ),
    ],
  });
  first.order('POST', '/scenarios/test');
  const { Events } = first.document();
  const seen = [first.document().DocumentIncarnation];
  for (const _ of [1, 2]) {
    first.advance('1s');
    assert.deepEqual(first.document().Events, Events);
    seen.push(first.document().DocumentIncarnation);
  }
  assert.deepEqual(seen, [2, 4, 1]);
});

test('an ETag that does not match, or is not valid, gets the document (F-17)', () => {
  const { first } = simulatedGroup();
  for (const tag of ['0', 'null', '', '1', '"2"', 'W/"0"', '""'])
    assert.equal(first.get(undefined, { 'If-None-Match': tag }).status, 200, tag);
});

test('a POST is never conditional, as the sample that sends If-None-Match with it expects (F-17)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule();
  const etag = first.get().headers['etag'] ?? '';
  const url = '/metadata/scheduledevents?api-version=2020-07-01';
  const answer = first.ask('POST', url, { StartRequests: [{ EventId }] }, { Metadata: 'true', 'If-None-Match': etag });
  assert.equal(answer.status, 200);
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
});

test('an ETag is only the incarnation: one from before a restart hides a different document (F-18)', () => {
  const { first } = simulatedGroup({
    scenarios: [scriptOf({ afterMs: 0, action: { kind: 'incarnation', skip: 'restart' } })],
  });
  const before = first.get();
  first.schedule();
  first.order('POST', '/scenarios/test');
  const after = first.get();
  assert.equal(after.headers['etag'], before.headers['etag']);
  assert.notDeepEqual(jsonOf(after), jsonOf(before));
  assert.equal(first.get(undefined, { 'If-None-Match': before.headers['etag'] ?? '' }).status, 304);
});
