// StartRequests → their effects; rows of docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import { simulatedGroup } from '../virtual/simulated-group.ts';
import { EVENTS } from '../virtual/simulation.ts';

for (const apiVersion of ['2017-03-01', '2019-08-01', '2024-07-09']) {
  test(`a POST in ${apiVersion} approves an event read in another version, even one of a newer type (F-36)`, () => {
    const { first } = simulatedGroup();
    const { EventId } = first.schedule({ EventType: 'Terminate' });
    const url = `/metadata/scheduledevents?api-version=${apiVersion}`;
    assert.equal(first.ask('POST', url, { StartRequests: [{ EventId }] }).status, 200);
    assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
  });
}

test('approving a Started event gets 200 and does not change its end, however it started (F-67)', () => {
  const { first } = simulatedGroup();
  const byItself = first.schedule({ EventType: 'Preempt' }).EventId;
  const atOnce = first.schedule({ EventStatus: 'Started', startedFor: '630s' }).EventId;
  first.advance('30s');
  const before = first.document();
  first.advance('9m');
  assert.equal(first.approve(byItself, atOnce, byItself).status, 200);
  assert.deepEqual(first.document(), before);
  first.advance('1m');
  assert.deepEqual(first.document().Events, []);
});

test('an id repeated in one POST in several letter cases counts as one approval (F-67)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule();
  assert.equal(first.approve(EventId, EventId.toLowerCase(), EventId).status, 200);
  assert.equal(first.document().DocumentIncarnation, 3);
});

for (const type of [
  undefined,
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain; charset=utf-8',
  'nonsense',
]) {
  test(`a POST with the content type ${type ?? '(none)'} and additional keys approves (F-69)`, () => {
    const { first } = simulatedGroup();
    const { EventId } = first.schedule();
    const headers: Record<string, string> = {
      Metadata: 'true',
      ...(type === undefined ? {} : { 'Content-Type': type }),
    };
    const body = { DocumentIncarnation: '2', StartRequests: [{ EventId, Approver: 'me' }], Reason: null };
    assert.equal(first.ask('POST', EVENTS, body, headers).status, 200);
    assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
  });
}

test('an empty StartRequests is accepted and approves nothing (F-73)', () => {
  const { first } = simulatedGroup();
  first.schedule();
  const before = first.document();
  assert.equal(first.approve().status, 200);
  assert.deepEqual(first.document(), before);
});

test('approving a Preempt shortens its notice, as with any other event (F-74)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule({ EventType: 'Preempt' });
  first.approve(EventId);
  assert.deepEqual(first.statuses(), [[EventId, 'Started']]);
});

test('approving a SpotRebalanceRecommendation has no effect: it ends by itself (F-74)', () => {
  const { first } = simulatedGroup();
  const { EventId } = first.schedule({ EventType: 'SpotRebalanceRecommendation' });
  const before = first.document('2024-07-09');
  assert.equal(first.approve(EventId).status, 200);
  assert.deepEqual(first.document('2024-07-09'), before);
  first.advance('15m');
  assert.equal(first.document('2024-07-09').Events[0]?.EventStatus, 'Started');
});
