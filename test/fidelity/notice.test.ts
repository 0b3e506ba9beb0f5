// An advanced simulated clock → the clock in which NotBefore is listed; docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { GroupState } from '../../src/simulator/control/group-state.ts';
import type { WireEvent } from '../../src/simulator/events/event.ts';
import type { Script } from '../../src/simulator/script/script.ts';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { scriptOf, simulatedGroup } from '../virtual/simulated-group.ts';
import { jsonOf } from '../virtual/simulation.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A group whose clock moves only by orders, and the notice of its events by both clocks. */
function fixture(notBefore?: 'simulated' | 'wall', scenarios: readonly Script[] = []) {
  const { time, first } = simulatedGroup({ speed: 0, scenarios, ...(notBefore ? { notBefore } : {}) });
  const simulatedMs = () => Date.parse(jsonOf<{ now: string }>(first.order('GET', '/clock')).now);
  const minutesAhead = ({ NotBefore }: WireEvent, nowMs: number) => (Date.parse(NotBefore) - nowMs) / MINUTE_MS;
  return {
    time,
    first,
    byWall: (event: WireEvent) => minutesAhead(event, time.wallMs()),
    bySimulated: (event: WireEvent) => minutesAhead(event, simulatedMs()),
    listed: () => first.document().Events[0] as WireEvent,
    state: () => jsonOf<GroupState>(first.order('GET', '')),
  };
}

test('by default NotBefore is simulated: a client on real time sees the notice plus the time by which the clock was advanced (F-102)', () => {
  const { first, byWall, bySimulated } = fixture();
  first.advance('1h');
  const event = first.schedule({ EventType: 'Terminate' });
  assert.deepEqual([bySimulated(event), byWall(event)], [5, 65]);
});

test('by the wall clock a client on real time sees the intended notice, and the event starts after that notice of simulated time (F-102)', async () => {
  const { first, byWall, listed, time } = fixture('wall');
  first.advance('1h');
  const { EventId } = first.schedule({ EventType: 'Terminate' });
  assert.equal(byWall(listed()), 5);
  first.advance('299s');
  assert.equal(byWall(listed()), 5, 'what was listed stays');
  first.advance('1s');
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
  first.advance('10m');
  await time.advance(HOUR_MS * 3);
  first.schedule({ EventType: 'Preempt' });
  assert.equal(byWall(listed()), 0.5, 'where the simulated clock has fallen behind, too');
});

test('an event that a scenario schedules during an advance has the notice that is left when it is first seen (F-102)', () => {
  const script = scriptOf({ afterMs: 30 * MINUTE_MS, action: { kind: 'schedule', fields: { EventType: 'Reboot' } } });
  const { first, byWall, listed } = fixture('wall', [script]);
  first.order('POST', '/scenarios/test');
  first.advance('40m');
  assert.equal(byWall(listed()), 5);
  first.advance('5m');
  assert.equal(listed().EventStatus, 'Started');
});

test('a given NotBefore is read in the clock in which it is listed (F-102)', () => {
  const { first, byWall, time, state } = fixture('wall');
  first.advance('1h');
  const event = first.schedule({ NotBefore: new Date(time.wallMs() + 7 * MINUTE_MS).toISOString() });
  assert.equal(byWall(event), 7);
  assert.equal(Date.parse(state().events[0]?.startsAt ?? ''), time.wallMs() + HOUR_MS + 7 * MINUTE_MS);
  first.advance('7m');
  assert.deepEqual(first.statuses(), [[event.EventId, 'Started']]);
  const past = first.schedule({ NotBefore: new Date(time.wallMs() - MINUTE_MS).toISOString() });
  first.advance('1h');
  assert.deepEqual(first.statuses(), [[past.EventId, 'Scheduled']]);
});

test('a change moves NotBefore and the start only if it sets NotBefore or notice (F-102)', () => {
  const { first, byWall, listed } = fixture('wall');
  const { EventId, NotBefore } = first.schedule({ EventType: 'Reboot' });
  first.advance('5m');
  first.order('PATCH', `/events/${EventId}`, { DurationInSeconds: 9, otherTenants: '1m' });
  assert.equal(listed().NotBefore, NotBefore);
  first.order('PATCH', `/events/${EventId}`, { notice: '10m' });
  assert.equal(byWall(listed()), 10);
  first.advance('10m');
  assert.equal(listed().EventStatus, 'Scheduled');
  first.advance('1m');
  assert.equal(listed().EventStatus, 'Started');
});

test('the clock of NotBefore can be changed at any time, for later events, and a reset keeps it (F-102)', () => {
  const { first, byWall, state } = fixture();
  first.advance('1h');
  const before = first.schedule();
  assert.deepEqual(Object.keys(jsonOf(first.order('PUT', '/clock', { notBefore: 'wall' }))), ['now', 'speed']);
  const after = first.schedule();
  assert.deepEqual([byWall(before), byWall(after)], [75, 15]);
  assert.deepEqual(
    state().events.map(({ notBeforeAt, startsAt }) => notBeforeAt === startsAt && startsAt),
    [
      new Date(Date.parse(before.NotBefore)).toISOString(),
      new Date(Date.parse(after.NotBefore) + HOUR_MS).toISOString(),
    ],
  );
  first.order('DELETE', '', undefined, 204);
  assert.equal(state().notBefore, 'wall');
  assert.equal(byWall(first.schedule()), 15);
  first.order('PUT', '/clock', { notBefore: 'simulated' });
  assert.equal(byWall(first.schedule()), 75);
});

test('in each document of a recording, a client on real time sees the recorded notice (F-102)', () => {
  const recordedAtMs = Date.UTC(2022, 3, 11, 22, 11, 58);
  const show = (afterMs: number, incarnation: number, Description: string) =>
    ({ afterMs, action: { kind: 'document', incarnation, events: [{ ...EXAMPLE_EVENT, Description }] } }) as const;
  const steps = [show(0, 2, 'a'), show(5 * MINUTE_MS, 3, 'b')];
  const { first, byWall, listed } = fixture('wall', [{ ...scriptOf(...steps), recordedAtMs }]);
  first.advance('1d');
  first.order('POST', '/scenarios/test');
  assert.equal(byWall(listed()), 15);
  first.advance('5m');
  assert.deepEqual([listed().Description, byWall(listed())], ['b', 15], 'the same NotBefore');
});
