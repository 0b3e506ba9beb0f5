// Empty 200 answers → nothing at first, then the end of what was known (behaviour 4.5).
import assert from 'node:assert/strict';
import test from 'node:test';
import { documentOf } from '../../support/events.ts';
import { told, Watcher } from './watcher.ts';

const EMPTY = documentOf(null);

function watching(eventStatus: 'Scheduled' | 'Started' = 'Started'): Watcher {
  const watcher = new Watcher();
  watcher.see(documentOf(4, [{ eventStatus }]), 0);
  return watcher;
}

test('the third empty answer in a row ends what is known, at least 10 s after the first', () => {
  const watcher = watching();
  assert.deepEqual(watcher.see(EMPTY, 1000), []);
  assert.deepEqual(watcher.see(EMPTY, 6000), []);
  assert.deepEqual(watcher.see(EMPTY, 1000 + 9999), [], 'the third, but too early');
  assert.deepEqual(told(watcher.see(EMPTY, 1000 + 10_000)), ['ended completed']);
  assert.equal(watcher.state.incarnation, 4, 'the last incarnation stands');
});

test('two empty answers end nothing, however far apart', () => {
  const watcher = watching();
  watcher.see(EMPTY, 1000);
  assert.deepEqual(watcher.see(EMPTY, 60_000), []);
  assert.deepEqual(told(watcher.see(EMPTY, 61_000)), ['ended completed']);
});

test('any other answer breaks the row', () => {
  const breaks: ((watcher: Watcher) => void)[] = [
    (watcher) => watcher.fail(),
    (watcher) => void watcher.see(documentOf(4, [{ eventStatus: 'Started' }]), 3000),
    (watcher) => watcher.restart(),
  ];
  for (const breakRow of breaks) {
    const watcher = watching();
    watcher.see(EMPTY, 1000);
    watcher.see(EMPTY, 2000);
    breakRow(watcher);
    assert.deepEqual(watcher.see(EMPTY, 12_000), []);
    assert.deepEqual(watcher.see(EMPTY, 21_999), []);
    assert.deepEqual(watcher.see(EMPTY, 21_999), []);
    assert.deepEqual(told(watcher.see(EMPTY, 22_000)), ['ended completed']);
  }
});

test('an event last seen Scheduled ends by empty answers as unknown', () => {
  const watcher = watching('Scheduled');
  for (const at of [1000, 2000]) assert.deepEqual(watcher.see(EMPTY, at), []);
  assert.deepEqual(told(watcher.see(EMPTY, 11_000)), ['ended unknown']);
});

test('a document without the event ends it at once, empty answers before it or not', () => {
  const watcher = watching('Scheduled');
  watcher.see(EMPTY, 1000);
  assert.deepEqual(told(watcher.see(documentOf(5), 2000)), ['ended canceled']);
});

test('an event that is listed again after empty answers has not ended', () => {
  const watcher = watching();
  watcher.see(EMPTY, 1000);
  assert.deepEqual(watcher.see(documentOf(4, [{ eventStatus: 'Started' }]), 2000), []);
  assert.equal(watcher.news, true);
  assert.equal([...watcher.state.events.values()][0]?.missing, null);
});

test('an empty answer can be the first of an epoch, and its row obeys the epoch’s rule', () => {
  const watcher = watching();
  const day = 24 * 3_600_000;
  assert.deepEqual(watcher.see(EMPTY, day + 1), []);
  assert.equal(watcher.state.epoch?.number, 2);
  for (const after of [20_000, 40_000, 299_999]) assert.deepEqual(watcher.see(EMPTY, day + 1 + after), []);
  assert.deepEqual(told(watcher.see(EMPTY, day + 1 + 300_000)), ['ended unknown']);
});

test('an empty answer alone is a first document, and the next ones are nothing new', () => {
  const watcher = new Watcher();
  assert.deepEqual(watcher.see(EMPTY, 0), []);
  assert.deepEqual([watcher.news, watcher.state.incarnation, watcher.state.epoch?.number], [true, null, 1]);
  watcher.see(EMPTY, 1000);
  assert.equal(watcher.news, false);
  assert.deepEqual(told(watcher.see(documentOf(1, [{}]), 2000)), ['scheduled']);
});

test('a failure without a row leaves the very same state', () => {
  const watcher = watching();
  const { state } = watcher;
  watcher.fail();
  assert.equal(watcher.state, state);
});
