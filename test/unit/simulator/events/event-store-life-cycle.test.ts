// Events on the virtual clock → when they start and end by themselves, and what is one change.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { WireEvent } from '../../../../src/simulator/events/event.ts';
import { jsonOf, Simulation } from '../../../virtual/simulation.ts';

const START_MS = Date.UTC(2022, 3, 11, 22, 11, 57, 250);
const noticeOf = (event: WireEvent, sinceMs: number) => Date.parse(event.NotBefore) - sinceMs;

test('an event without any given field is a Freeze by the Platform for all machines, of unknown duration (F-14, F-20, F-25, F-26, F-27, F-28)', () => {
  const event = new Simulation({ vmName: 'WestNO_0' }).schedule();
  assert.match(event.EventId, /^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/);
  const { EventType, EventStatus, EventSource, ResourceType, Resources, DurationInSeconds, Description } = event;
  assert.deepEqual(
    { EventType, EventStatus, EventSource, ResourceType, Resources, DurationInSeconds, Description },
    {
      EventType: 'Freeze',
      EventStatus: 'Scheduled',
      EventSource: 'Platform',
      ResourceType: 'VirtualMachine',
      Resources: ['WestNO_0'],
      DurationInSeconds: -1,
      Description: '',
    },
  );
});

for (const [type, seconds] of [
  ['Freeze', 900],
  ['Reboot', 900],
  ['Redeploy', 600],
  ['Preempt', 30],
  ['Terminate', 300],
  ['SomethingNew', 900],
] as const) {
  test(`a ${type} gets at least ${seconds} s of notice, in whole seconds (F-21, F-23, F-45)`, () => {
    const simulation = new Simulation({ startMs: START_MS });
    const event = simulation.schedule({ EventType: type });
    assert.equal(event.NotBefore, new Date(Date.parse(event.NotBefore)).toUTCString());
    assert.equal(noticeOf(event, START_MS), seconds * 1000 + 750);
  });
}

test('an event starts by itself at its NotBefore, is Started for 10 minutes, and ends (F-23, F-37, F-46)', async () => {
  const simulation = new Simulation({ startMs: START_MS });
  const { EventId } = simulation.schedule();
  await simulation.time.advance(900_749);
  assert.deepEqual(simulation.statuses(), [[EventId, 'Scheduled']]);
  await simulation.time.advance(1);
  assert.deepEqual(simulation.statuses(), [[EventId, 'Started']]);
  assert.equal(simulation.document().Events[0]?.NotBefore, '');
  await simulation.time.advance(599_999);
  assert.deepEqual(simulation.statuses(), [[EventId, 'Started']]);
  await simulation.time.advance(1);
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 4, Events: [] });
});

test('each change counts at its own time, even if a client looks only later (F-15, F-37)', () => {
  const simulation = new Simulation();
  simulation.schedule();
  simulation.schedule({ EventType: 'Preempt' });
  simulation.advance('1d');
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 7, Events: [] });
});

test('everything due at the same time is one change (F-15, F-29)', () => {
  const simulation = new Simulation();
  const ids = [simulation.schedule().EventId, simulation.schedule().EventId];
  assert.equal(simulation.document().DocumentIncarnation, 3);
  simulation.advance('15m');
  assert.deepEqual(
    simulation.statuses(),
    ids.map((id) => [id, 'Started']),
  );
  assert.equal(simulation.document().DocumentIncarnation, 4);
});

test('the 10 minutes of an approved event begin at its approval (F-37, F-46)', () => {
  const simulation = new Simulation();
  const { EventId } = simulation.schedule();
  simulation.advance('4m');
  simulation.approve(EventId);
  simulation.advance('599s');
  assert.deepEqual(simulation.statuses(), [[EventId, 'Started']]);
  simulation.advance('1s');
  assert.deepEqual(simulation.statuses(), []);
});

test('an event can be Started from the beginning, without notice (F-41)', () => {
  const simulation = new Simulation();
  const event = simulation.schedule({ EventType: 'Reboot', EventStatus: 'Started', NotBefore: '2030-01-01T00:00:00Z' });
  assert.deepEqual([event.EventStatus, event.NotBefore], ['Started', '']);
  simulation.advance('10m');
  assert.deepEqual(simulation.statuses(), []);
});

test('a moved NotBefore moves the start (F-48)', () => {
  const simulation = new Simulation({ startMs: START_MS });
  const { EventId } = simulation.schedule();
  const move = (NotBefore: string) => simulation.send('PATCH', `/simulator/events/${EventId}`, { body: { NotBefore } });
  assert.equal(jsonOf<WireEvent>(move('2022-04-11T22:42:00Z')).NotBefore, 'Mon, 11 Apr 2022 22:42:00 GMT');
  simulation.advance('30m');
  assert.deepEqual(simulation.statuses(), [[EventId, 'Scheduled']]);
  move('Mon, 11 Apr 2022 22:41:58 GMT');
  simulation.advance('1s');
  assert.deepEqual(simulation.statuses(), [[EventId, 'Started']]);
});

test('a NotBefore within the current second starts the event at once (F-39)', () => {
  const simulation = new Simulation({ startMs: START_MS });
  const { EventId } = simulation.schedule({ NotBefore: new Date(START_MS).toUTCString() });
  assert.deepEqual(simulation.statuses(), [[EventId, 'Started']]);
});

test('an event whose NotBefore is empty or already past stays Scheduled until it is approved (F-39)', () => {
  const simulation = new Simulation();
  const ids = [
    simulation.schedule({ NotBefore: '' }).EventId,
    simulation.schedule({ NotBefore: 'Mon, 11 Apr 2022 22:26:58 GMT' }).EventId,
  ];
  simulation.advance('2d');
  assert.deepEqual(
    simulation.statuses(),
    ids.map((id) => [id, 'Scheduled']),
  );
  simulation.approve(...ids);
  assert.deepEqual(
    simulation.statuses(),
    ids.map((id) => [id, 'Started']),
  );
});

test("control requests can reproduce the documentation's example (F-14, F-20, F-54)", () => {
  const simulation = new Simulation({ vmName: 'WestNO_0', startMs: START_MS });
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 1, Events: [] });
  const fields = {
    EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    EventType: 'Freeze',
    ResourceType: 'VirtualMachine',
    Resources: ['WestNO_0', 'WestNO_1'],
    Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
    EventSource: 'Platform',
    DurationInSeconds: 5,
  };
  simulation.schedule(fields);
  const scheduled = { ...fields, EventStatus: 'Scheduled', NotBefore: 'Mon, 11 Apr 2022 22:26:58 GMT' };
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 2, Events: [scheduled] });
  simulation.send('POST', `/simulator/events/${fields.EventId}/start`);
  assert.deepEqual(simulation.document(), {
    DocumentIncarnation: 3,
    Events: [{ ...fields, EventStatus: 'Started', NotBefore: '' }],
  });
  simulation.send('POST', `/simulator/events/${fields.EventId}/end`);
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 4, Events: [] });
});

test('the clock runs at its speed, even if the wall clock jumps (F-65)', async () => {
  const simulation = new Simulation({ startMs: START_MS, speed: 60 });
  const nowMs = () => Date.parse(jsonOf<{ now: string }>(simulation.send('GET', '/simulator/clock')).now);
  await simulation.time.advance(1000);
  simulation.time.jumpWall(-3_600_000);
  assert.equal(nowMs(), START_MS + 60_000);
  simulation.send('PUT', '/simulator/clock', { body: { speed: 0 } });
  await simulation.time.advance(1000);
  assert.equal(nowMs(), START_MS + 60_000);
  const answer = simulation.send('PUT', '/simulator/clock', { body: { advance: '15m', speed: 0.5 } });
  assert.deepEqual(jsonOf(answer), { now: new Date(START_MS + 960_000).toISOString(), speed: 0.5 });
  await simulation.time.advance(1000);
  assert.equal(nowMs(), START_MS + 960_500);
});

test('the demo is one live migration: notice, approval, end', () => {
  const simulation = new Simulation();
  const answer = simulation.send('POST', '/simulator/scenarios/demo');
  assert.equal(jsonOf<{ running: boolean }>(answer).running, true);
  const [event] = simulation.document().Events;
  assert.deepEqual([event?.EventType, event?.EventStatus, event?.DurationInSeconds], ['Freeze', 'Scheduled', 5]);
  simulation.advance('14m');
  assert.deepEqual(simulation.statuses(), [[event?.EventId, 'Scheduled']]);
  simulation.approve(event?.EventId ?? '');
  assert.deepEqual(simulation.statuses(), [[event?.EventId, 'Started']]);
  simulation.advance('10m');
  assert.deepEqual(simulation.document(), { DocumentIncarnation: 4, Events: [] });
  const [demo] = jsonOf<{ running: boolean }[]>(simulation.send('GET', '/simulator/scenarios'));
  assert.equal(demo?.running, false);
});
