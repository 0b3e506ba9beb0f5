// A service with --strict → first answer, first events, switching off; docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { scriptOf, simulatedGroup } from '../virtual/simulated-group.ts';
import { EVENTS, jsonOf, type SimulatedMachine, textOf } from '../virtual/simulation.ts';

const START_MS = Date.UTC(2026, 3, 1);
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const INSTANCE = '/metadata/instance?api-version=2021-02-01';

function strictPair() {
  const { machines } = simulatedGroup({ vms: ['sim_0', 'sim_1'], strict: true, startMs: START_MS });
  return machines as [SimulatedMachine, SimulatedMachine];
}

test('the first answer comes after 2 minutes, as do all others until then, on every machine and for a POST too (F-60)', () => {
  const [a, b] = strictPair();
  assert.equal(a.get().notBeforeMs, START_MS + 2 * MINUTE_MS);
  a.advance('1m');
  assert.equal(b.get().notBeforeMs, START_MS + 2 * MINUTE_MS);
  assert.equal(b.ask('POST', EVENTS, { StartRequests: [] }).notBeforeMs, START_MS + 2 * MINUTE_MS);
  a.advance('59s');
  assert.equal(a.get().notBeforeMs, START_MS + 2 * MINUTE_MS);
  a.advance('1s');
  assert.equal(a.get().notBeforeMs, undefined);
});

test('a refused request is answered at once and does not switch the service on (F-60)', () => {
  const [a] = strictPair();
  assert.equal(a.ask('GET', EVENTS, '', {}).notBeforeMs, undefined);
  assert.equal(a.get('/metadata/scheduledevents').notBeforeMs, undefined);
  assert.equal(a.ask('POST', EVENTS, '{}').notBeforeMs, undefined);
  a.advance('1h');
  assert.notEqual(a.get().notBeforeMs, undefined);
});

test('events are listed 5 minutes after the first request, earlier ones in their current state (F-61)', () => {
  const [a, b] = strictPair();
  const started = a.schedule({ EventType: 'Preempt' }).EventId;
  const scheduled = a.schedule({ EventType: 'Reboot' }).EventId;
  a.get();
  a.advance('299s');
  assert.deepEqual(a.document(), { DocumentIncarnation: 1, Events: [] });
  assert.equal(a.approve(scheduled).status, 400);
  a.advance('1s');
  for (const machine of [a, b])
    assert.deepEqual(machine.statuses(), [
      [started, 'Started'],
      [scheduled, 'Scheduled'],
    ]);
  assert.equal(a.document().DocumentIncarnation, 2);
});

test('without events nothing changes at the end of the 5 minutes (F-61)', () => {
  const [a] = strictPair();
  a.get();
  a.advance('10m');
  assert.deepEqual(a.document(), { DocumentIncarnation: 1, Events: [] });
});

test('after 24 hours without a request the next one counts as a first one, with incarnation 1 (F-62)', () => {
  const [a] = strictPair();
  a.get();
  a.advance('5m');
  const { EventId } = a.schedule({ notice: '3d' });
  a.advance('1m');
  assert.equal(a.document().DocumentIncarnation, 2);
  a.advance('1d');
  const answer = a.get();
  assert.equal(answer.notBeforeMs, START_MS + 6 * MINUTE_MS + 24 * 60 * MINUTE_MS + 2 * MINUTE_MS);
  assert.deepEqual(jsonOf(answer), { DocumentIncarnation: 1, Events: [] });
  a.advance('5m');
  assert.equal(a.document().DocumentIncarnation, 2);
  assert.deepEqual(a.statuses(), [[EventId, 'Scheduled']]);
});

test('a daily request on any machine keeps the service on (F-62, F-63)', () => {
  const [a, b] = strictPair();
  a.get();
  for (const machine of [b, a, b]) {
    a.advance('86399s');
    assert.equal(machine.get().notBeforeMs, undefined);
  }
});

test('requests to other routes do not keep the service on (F-63)', () => {
  const [a] = strictPair();
  a.get();
  for (const url of [INSTANCE, '/metadata/versions', '/metadata/scheduledevents']) {
    a.advance('8h');
    a.get(url);
  }
  assert.notEqual(a.get().notBeforeMs, undefined);
});

test('a scenario can switch the service off at any time, strict or not (F-62)', () => {
  const script = scriptOf({ afterMs: 0, action: { kind: 'switchOff' } });
  const { first } = simulatedGroup({ startMs: START_MS, scenarios: [script] });
  const { EventId } = first.schedule();
  assert.equal(first.get().notBeforeMs, undefined);
  first.order('POST', '/scenarios/test');
  const answer = first.get();
  assert.equal(answer.notBeforeMs, START_MS + 2 * MINUTE_MS);
  assert.deepEqual(jsonOf(answer), { DocumentIncarnation: 1, Events: [] });
  first.advance('5m');
  assert.deepEqual(first.statuses(), [[EventId, 'Scheduled']]);
});

test('the sixth request within a second gets 429, counted over all metadata routes and for each machine (F-64)', () => {
  const [a, b] = strictPair();
  const urls = [EVENTS, INSTANCE, '/metadata/nothing', '/metadata/scheduledevents', EVENTS];
  for (const url of urls) assert.notEqual(a.get(url).status, 429, url);
  const refused = a.get(INSTANCE);
  assert.deepEqual([refused.status, refused.notBeforeMs, refused.headers['retry-after']], [429, undefined, undefined]);
  assert.match(textOf(refused), /Too many requests/);
  assert.equal(a.approve().status, 429);
  assert.equal(b.get(INSTANCE).status, 200);
});

test('the limit counts the second before each request, without refused ones (F-64)', () => {
  const [a] = strictPair();
  const ask = () => a.get(INSTANCE).status;
  assert.equal(ask(), 200);
  a.advance('600ms');
  for (const status of [200, 200, 200, 200, 429, 429]) assert.equal(ask(), status);
  a.advance('399ms');
  assert.equal(ask(), 429);
  a.advance('1ms');
  assert.deepEqual([ask(), ask()], [200, 429]);
  a.advance('600ms');
  assert.deepEqual([ask(), ask(), ask(), ask(), ask()], [200, 200, 200, 200, 429]);
});

test('control requests are not limited, and a refused POST approves nothing (F-64)', () => {
  const [a] = strictPair();
  a.get();
  a.advance('5m');
  const { EventId } = a.schedule();
  a.advance('1m');
  for (let left = 20; left > 0; left--) a.order('GET', '/clock');
  for (let left = 5; left > 0; left--) a.get();
  assert.equal(a.approve(EventId).status, 429);
  a.advance('1s');
  assert.deepEqual(a.statuses(), [[EventId, 'Scheduled']]);
});

/** A strict pair that lists events; the next document is due in a minute. */
function strictPairThatIsOn() {
  const pair = strictPair();
  pair[0].get();
  pair[0].advance('5m');
  return pair;
}

test('a new event is listed in the next document, which is made once a minute, on every machine at once (F-100)', () => {
  const [a, b] = strictPairThatIsOn();
  a.advance('10s');
  const { EventId, NotBefore } = a.schedule({ EventType: 'Reboot' });
  a.advance('49s');
  assert.deepEqual(a.document(), { DocumentIncarnation: 1, Events: [] });
  assert.equal(a.approve(EventId).status, 400, 'what is not shown cannot be approved');
  a.advance('1s');
  for (const machine of [a, b]) assert.deepEqual(machine.statuses(), [[EventId, 'Scheduled']]);
  assert.equal(a.document().DocumentIncarnation, 2);
  assert.equal(
    Date.parse(NotBefore) - (START_MS + 6 * MINUTE_MS),
    14 * MINUTE_MS + 10 * SECOND_MS,
    'the notice that is left, as in captures',
  );
});

test("an approval's effect is visible up to a minute later, and until then it can be approved again (F-100)", () => {
  const [a, b] = strictPairThatIsOn();
  const { EventId } = a.schedule();
  a.advance('1m');
  assert.equal(a.approve(EventId).status, 200);
  const etag = a.get().headers['etag'] ?? '';
  b.advance('59s');
  assert.deepEqual(b.statuses(), [[EventId, 'Scheduled']]);
  assert.equal(b.get(EVENTS, { 'If-None-Match': etag }).status, 304);
  assert.equal(b.approve(EventId).status, 200);
  b.advance('1s');
  for (const machine of [a, b]) assert.deepEqual(machine.statuses(), [[EventId, 'Started']]);
  assert.equal(a.document().DocumentIncarnation, 3);
});

test('an event that comes and goes between two documents is never listed, and all changes in between count as one (F-100)', () => {
  const [a] = strictPairThatIsOn();
  const brief = a.schedule({ EventType: 'Preempt', notice: '10s', startedFor: '20s' }).EventId;
  const kept = a.schedule({ EventType: 'Preempt', notice: '10s', startedFor: '10m' }).EventId;
  a.advance('59s');
  assert.deepEqual(a.document(), { DocumentIncarnation: 1, Events: [] });
  a.advance('1s');
  assert.deepEqual([a.statuses(), a.document().DocumentIncarnation], [[[kept, 'Started']], 2]);
  a.order('POST', `/events/${kept}/end`);
  assert.deepEqual(a.statuses(), [[kept, 'Started']]);
  assert.deepEqual([a.approve(kept).status, a.approve(brief).status], [200, 400], 'by what is shown');
  a.advance('1m');
  assert.deepEqual(a.document(), { DocumentIncarnation: 3, Events: [] });
});

test('a document includes a start that is due at the same time (F-100)', () => {
  const [a] = strictPairThatIsOn();
  const { EventId } = a.schedule({ notice: '2m' });
  a.advance('1m');
  a.advance('60s');
  assert.deepEqual(a.statuses(), [[EventId, 'Started']]);
});

test('a reset and a recorded document are visible at once, strict or not (F-100)', () => {
  const recorded = { kind: 'document', incarnation: 7, events: [{ ...EXAMPLE_EVENT }] } as const;
  const { machines } = simulatedGroup({
    strict: true,
    startMs: START_MS,
    scenarios: [scriptOf({ afterMs: 0, action: recorded })],
  });
  const [a] = machines as [SimulatedMachine];
  a.get();
  a.advance('5m');
  a.order('POST', '/scenarios/test');
  assert.deepEqual(a.document(), { DocumentIncarnation: 7, Events: [EXAMPLE_EVENT] });
  a.order('DELETE', '', undefined, 204);
  assert.deepEqual(a.document(), { DocumentIncarnation: 8, Events: [] });
});

test('after a switch-off the document is updated when events are first listed, then once a minute (F-62, F-100)', () => {
  const [a] = strictPairThatIsOn();
  const early = a.schedule({ notice: '9d' }).EventId;
  a.advance('1d');
  a.get();
  a.advance('4m');
  const late = a.schedule({ notice: '9d' }).EventId;
  a.advance('1m');
  assert.deepEqual(
    a.statuses().map(([id]) => id),
    [early, late],
  );
  const last = a.schedule({ notice: '9d' }).EventId;
  a.advance('59s');
  assert.equal(a.statuses().length, 2);
  a.advance('1s');
  assert.equal(a.statuses()[2]?.[0], last);
});

test('without --strict the service is on from the start, has no rate limit, and shows each change at once (F-60, F-61, F-64, F-100)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule();
  assert.deepEqual(first.statuses(), [[EventId, 'Scheduled']]);
  for (let left = 100; left > 0; left--) {
    const answer = first.get();
    assert.deepEqual([answer.status, answer.notBeforeMs], [200, undefined]);
  }
  first.advance('3d');
  assert.equal(first.get().notBeforeMs, undefined);
});
