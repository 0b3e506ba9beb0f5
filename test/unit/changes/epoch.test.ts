// Restarts, silences, other api-versions → when an absence proves an end again (behaviour 4.4).
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Instant, KnownState } from '../../../src/model/events.ts';
import { documentOf, EVENT_ID, momentAt, START_MS } from '../../support/events.ts';
import { told, Watcher } from './watcher.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function epochNumber(state: KnownState): number | undefined {
  return state.epoch?.number;
}

/** A bridge that knows the sample event, listed by incarnation 7 at 0 ms. */
function watching(): Watcher {
  const watcher = new Watcher();
  watcher.see(documentOf(7, [{}]), 0);
  return watcher;
}

test('after a smaller incarnation a missing event ends with the settle time to the millisecond, outcome unknown', () => {
  const watcher = watching();
  const restarted = documentOf(1);
  assert.deepEqual(watcher.see(restarted, 1000), []);
  assert.deepEqual([epochNumber(watcher.state), watcher.news], [2, true]);
  const { missing } = watcher.state.events.get(EVENT_ID.toLowerCase()) ?? {};
  assert.deepEqual(missing, { at: momentAt(1000), scheduledJustBefore: false }, 'it was Scheduled in another epoch');
  assert.deepEqual(watcher.see(restarted, 2000), []);
  assert.equal(watcher.news, false);
  assert.deepEqual(watcher.see(restarted, 1000 + 5 * MINUTE - 1), []);
  assert.deepEqual(told(watcher.see(restarted, 1000 + 5 * MINUTE)), ['ended unknown']);
});

test('an event last seen Started that a new epoch never lists ends as unknown too', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(7, [{ eventStatus: 'Started' }]), 0);
  watcher.see(documentOf(1), 1000);
  assert.deepEqual(told(watcher.see(documentOf(1), 6 * MINUTE)), ['ended unknown']);
});

test('events that a new epoch lists are compared as usual, and end at once when they go missing', () => {
  const watcher = watching();
  assert.deepEqual(watcher.see(documentOf(1, [{}]), 1000), []);
  assert.deepEqual(told(watcher.see(documentOf(2, [{ eventStatus: 'Started' }]), 2000)), ['started']);
  assert.deepEqual(told(watcher.see(documentOf(3), 3000)), ['ended completed']);
});

test('an event that a new epoch lists late has not ended', () => {
  const watcher = watching();
  watcher.see(documentOf(1), 1000);
  assert.deepEqual(watcher.see(documentOf(2, [{}]), 4 * MINUTE), []);
  assert.deepEqual(told(watcher.see(documentOf(2, [{}]), 6 * MINUTE)), []);
  assert.deepEqual(told(watcher.see(documentOf(3), 6 * MINUTE + 1000)), ['ended canceled']);
});

test('an incarnation that flaps begins a new epoch, and a new settle time, at each step down', () => {
  const watcher = watching();
  for (let n = 0; n < 6; n++) assert.deepEqual(watcher.see(documentOf(n % 2 === 0 ? 3 : 4), (n + 1) * 2 * MINUTE), []);
  assert.equal(epochNumber(watcher.state), 4);
  assert.deepEqual(watcher.see(documentOf(4), 10 * MINUTE + 5 * MINUTE - 1), []);
  assert.deepEqual(told(watcher.see(documentOf(4), 10 * MINUTE + 5 * MINUTE)), ['ended unknown']);
});

/**
 * Two hosts answer in turn each second: one lists nothing, and the other, with a larger incarnation, what `listed`
 * says.
 */
function answerInTurn(
  watcher: Watcher,
  fromMs: number,
  toMs: number,
  listed: (atMs: number) => readonly object[] = () => [],
): void {
  for (let atMs = fromMs; atMs < toMs; atMs += 2000) {
    watcher.see(documentOf(3), atMs);
    watcher.see(documentOf(5, listed(atMs)), atMs + 1000);
  }
}

test('two hosts that answer in turn: an event that neither lists ends three settle times after the first epoch began', () => {
  const watcher = watching();
  answerInTurn(watcher, 1000, 15 * MINUTE);
  assert.deepEqual(told(watcher.changes), ['scheduled']);
  answerInTurn(watcher, 15 * MINUTE + 1000, 15 * MINUTE + 3000);
  assert.deepEqual(told(watcher.changes), ['scheduled', 'ended unknown']);
});

test('epochs that follow each other before they settle: a missing event ends after three settle times to the millisecond', () => {
  const watcher = watching();
  for (let minute = 0; minute < 15; minute += 4) {
    watcher.see(documentOf(3), minute * MINUTE + 1000);
    watcher.see(documentOf(5), minute * MINUTE + 2000);
  }
  assert.deepEqual(watcher.see(documentOf(5), 15 * MINUTE + 999), []);
  assert.deepEqual(told(watcher.see(documentOf(5), 15 * MINUTE + 1000)), ['ended unknown']);
});

test('two hosts that answer in turn: an event that one of them lists does not end', () => {
  const watcher = watching();
  answerInTurn(watcher, 1000, 2 * HOUR, () => [{}]);
  assert.deepEqual(told(watcher.changes), ['scheduled']);
});

test('two hosts that answer in turn: an event that goes later ends three settle times after it was listed last', () => {
  const watcher = watching();
  const goneMs = 40 * MINUTE;
  answerInTurn(watcher, 1000, 2 * HOUR, (atMs) => (atMs < goneMs ? [{}] : []));
  assert.deepEqual(told(watcher.changes), ['scheduled', 'ended unknown']);
  const afterMs = (watcher.changes[1]?.at.wallMs ?? 0) - START_MS - goneMs;
  assert.ok(afterMs >= 15 * MINUTE - 3000 && afterMs <= 15 * MINUTE + 3000, `${afterMs} ms`);
});

test('a restart in between neither shortens nor prolongs the three settle times, nor does a wall clock that is set back then', () => {
  for (const [jumpMs, downMs] of [
    [0, 4 * MINUTE],
    [-HOUR, 0],
  ] as const) {
    const watcher = watching();
    answerInTurn(watcher, 1000, 6 * MINUTE);
    watcher.restart();
    const beganMs = 6 * MINUTE + downMs;
    const turn = (elapsedMs: number, setMs: number) => {
      watcher.see(documentOf(3), inNewProcess(beganMs + elapsedMs + setMs, elapsedMs));
      watcher.see(documentOf(5), inNewProcess(beganMs + elapsedMs + 1000 + setMs, elapsedMs + 1000));
    };
    turn(0, 0);
    const leftMs = 15 * MINUTE - beganMs;
    for (let elapsedMs = 2000; elapsedMs < leftMs - 2000; elapsedMs += 2000) turn(elapsedMs, jumpMs);
    assert.deepEqual(told(watcher.changes), ['scheduled']);
    turn(leftMs, jumpMs);
    turn(leftMs + 2000, jumpMs);
    assert.deepEqual(told(watcher.changes), ['scheduled', 'ended unknown']);
  }
});

test('an epoch that begins after another one has settled has a complete settle time', () => {
  const watcher = watching();
  answerInTurn(watcher, 1000, 14 * MINUTE, () => [{}]);
  watcher.see(documentOf(5, [{}]), 30 * MINUTE);
  watcher.see(documentOf(3), 30 * MINUTE + 1000);
  assert.deepEqual(told(watcher.see(documentOf(4), 35 * MINUTE)), []);
  assert.deepEqual(told(watcher.see(documentOf(4), 35 * MINUTE + 1000)), ['ended unknown']);
});

test('nothing ends until the state is known to be of this VM; then events end with the observed outcome', () => {
  const watcher = watching();
  watcher.isOurs = false;
  assert.deepEqual(watcher.see(documentOf(8), 1000), []);
  watcher.see(documentOf(1), 2000);
  assert.deepEqual(watcher.see(documentOf(1), HOUR), []);
  watcher.isOurs = true;
  assert.deepEqual(told(watcher.see(documentOf(1), HOUR + 1000)), ['ended unknown']);
  const other = watching();
  other.isOurs = false;
  assert.deepEqual(told(other.see(documentOf(8, [{ eventId: 'another' }]), 1000)), ['scheduled']);
  assert.deepEqual(told(other.see(documentOf(9, [{ eventId: 'another', eventStatus: 'Started' }]), 2000)), ['started']);
  other.isOurs = true;
  assert.deepEqual(told(other.see(documentOf(9, [{ eventId: 'another', eventStatus: 'Started' }]), 60_000)), [
    'ended canceled',
  ]);
});

test('a good document begins a new epoch if the last good one is more than 24 h old, not at exactly 24 h', () => {
  for (const [ageMs, told_] of [
    [24 * HOUR, ['ended unknown']],
    [24 * HOUR + 1, []],
  ] as const) {
    const watcher = watching();
    assert.deepEqual(told(watcher.see(documentOf(8), ageMs)), told_);
    assert.equal(epochNumber(watcher.state), ageMs > 24 * HOUR ? 2 : 1);
  }
});

test('the same document object begins a new epoch after 24 h as well', () => {
  const watcher = new Watcher();
  const document = documentOf(7, [{}]);
  watcher.see(document, 0);
  watcher.see(document, 25 * HOUR);
  assert.deepEqual([epochNumber(watcher.state), watcher.news], [2, true]);
  assert.equal(watcher.state.events.get(EVENT_ID.toLowerCase())?.epoch, 2);
});

test('a first document under another api-version begins a new epoch, once', () => {
  const watcher = watching();
  const older = { apiVersion: '2017-08-01' };
  assert.deepEqual(watcher.see(documentOf(7, [], older), 1000), []);
  assert.deepEqual(watcher.see(documentOf(8, [], older), 2000), []);
  assert.equal(epochNumber(watcher.state), 2);
  assert.deepEqual(told(watcher.see(documentOf(8, [], older), 1000 + 5 * MINUTE)), ['ended unknown']);
});

test('a restart neither begins an epoch nor shortens one', () => {
  const watcher = watching();
  watcher.restart();
  watcher.see(documentOf(7, [{}]), inNewProcess(2 * MINUTE, 10));
  assert.equal(epochNumber(watcher.state), 1);
  watcher.see(documentOf(1), inNewProcess(3 * MINUTE, 20));
  watcher.restart();
  assert.deepEqual(watcher.see(documentOf(1), inNewProcess(8 * MINUTE - 1, 5)), []);
  assert.deepEqual(told(watcher.see(documentOf(1), inNewProcess(8 * MINUTE, 6))), ['ended unknown']);
});

test('the wall clock may jump: a settle time runs by elapsed time, after a restart too', () => {
  for (const restarts of [false, true]) {
    for (const jumpMs of [HOUR, -HOUR]) {
      const watcher = watching();
      watcher.see(documentOf(1), 1000);
      if (restarts) watcher.restart();
      watcher.see(documentOf(1), inNewProcess(MINUTE, MINUTE));
      assert.deepEqual(watcher.see(documentOf(1), inNewProcess(2 * MINUTE + jumpMs, 2 * MINUTE)), []);
      assert.deepEqual(watcher.see(documentOf(1), inNewProcess(5 * MINUTE + jumpMs, 1000 + 5 * MINUTE - 1)), []);
      assert.deepEqual(told(watcher.see(documentOf(1), inNewProcess(5 * MINUTE + jumpMs, 1000 + 5 * MINUTE))), [
        'ended unknown',
      ]);
    }
  }
});

test('a stored epoch in the future of the clock is as old as the restart', () => {
  const watcher = watching();
  watcher.see(documentOf(1), 1000);
  watcher.restart();
  watcher.see(documentOf(1), inNewProcess(-HOUR, 0));
  assert.deepEqual(watcher.see(documentOf(1), inNewProcess(-HOUR, 5 * MINUTE - 1)), []);
  assert.deepEqual(told(watcher.see(documentOf(1), inNewProcess(-HOUR, 5 * MINUTE))), ['ended unknown']);
});

function inNewProcess(wallMs: number, elapsedMs: number): Instant {
  return { wallMs: START_MS + wallMs, elapsedMs };
}
