// How an event went → completed, canceled or unknown (behaviour 3.9).
import assert from 'node:assert/strict';
import test from 'node:test';
import { documentOf, EVENT_ID, START_MS } from '../../support/events.ts';
import { told, Watcher } from './watcher.ts';

const KEY = EVENT_ID.toLowerCase();
const NOT_BEFORE_MS = Date.parse('2022-04-11T22:26:58Z') - START_MS;

/** Lists the sample event at `listedAt` and no longer at `goneAt`. */
function outcome(listedAt: number, goneAt: number, prepare: (watcher: Watcher) => void = () => {}): readonly string[] {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), listedAt);
  prepare(watcher);
  return told(watcher.see(documentOf(2), goneAt));
}

test('an event that a document at most 10 s older listed as Scheduled was canceled', () => {
  for (const goneAt of [0, 10_000]) assert.deepEqual(outcome(0, goneAt), ['ended canceled']);
  assert.deepEqual(outcome(0, 10_001), ['ended unknown']);
});

test('an unchanged document counts as one that listed the event', () => {
  const watcher = new Watcher();
  const document = documentOf(1, [{}]);
  for (const at of [0, 20_000, 40_000]) watcher.see(document, at);
  assert.deepEqual(told(watcher.see(documentOf(2), 41_000)), ['ended canceled']);
});

test('nothing is canceled from NotBefore on, or without one', () => {
  assert.deepEqual(outcome(NOT_BEFORE_MS - 1000, NOT_BEFORE_MS - 1), ['ended canceled']);
  assert.deepEqual(outcome(NOT_BEFORE_MS - 1000, NOT_BEFORE_MS), ['ended unknown']);
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{ notBefore: null }]), 0);
  assert.deepEqual(told(watcher.see(documentOf(2), 1000)), ['ended unknown']);
});

test('an event with an approval of this bridge never ends as canceled', () => {
  assert.deepEqual(
    outcome(0, 1000, (watcher) => watcher.approved.add(`${KEY} 1`)),
    ['ended unknown'],
  );
  assert.deepEqual(
    outcome(0, 1000, (watcher) => watcher.approved.add(`${KEY} 2`)),
    ['ended canceled'],
    'another occurrence',
  );
});

test('a listing in another epoch does not make an event canceled', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(7, [{}]), 0);
  watcher.see(documentOf(1, [], { statusless: [KEY] }), 1000);
  assert.deepEqual(watcher.see(documentOf(2), 2000), []);
  assert.deepEqual(told(watcher.see(documentOf(2), 301_000)), ['ended unknown']);
});

test('an event whose status was unusable for a moment was canceled if it vanished within 10 s of its last listing', () => {
  for (const [goneAt, end] of [
    [10_000, 'ended canceled'],
    [10_001, 'ended unknown'],
  ] as const) {
    const watcher = new Watcher();
    watcher.see(documentOf(1, [{}]), 0);
    watcher.see(documentOf(2, [], { statusless: [KEY] }), 5000);
    watcher.see(documentOf(3, [], { complete: false }), 9000);
    assert.deepEqual(told(watcher.see(documentOf(4), goneAt)), [end]);
  }
});

test('a document that may list an event without a usable EventId does not count as its last listing', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  watcher.see(documentOf(2, [], { complete: false }), 9000);
  assert.deepEqual(told(watcher.see(documentOf(3), 10_001)), ['ended unknown']);
});

test('an event that came back without a usable status vanishes a second time: only that time decides', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{}]), 0);
  assert.deepEqual(watcher.see(documentOf(null), 1000), []);
  assert.deepEqual(watcher.see(documentOf(2, [], { statusless: [KEY] }), 2000), []);
  assert.deepEqual(told(watcher.see(documentOf(3), 60_000)), ['ended unknown']);
});

test('an event last seen Started is completed, however long ago that was', () => {
  const watcher = new Watcher();
  watcher.see(documentOf(1, [{ eventStatus: 'Started' }]), 0);
  assert.deepEqual(told(watcher.see(documentOf(2), 3_600_000)), ['ended completed']);
});

test('after a restart the stored time of the last good document decides, unless it is in the future of the clock', () => {
  for (const [wallMs, end] of [
    [10_000, 'ended canceled'],
    [10_001, 'ended unknown'],
    [-1, 'ended unknown'],
  ] as const) {
    const watcher = new Watcher();
    watcher.see(documentOf(1, [{}]), 0);
    watcher.restart();
    assert.deepEqual(told(watcher.see(documentOf(2), { wallMs: START_MS + wallMs, elapsedMs: 3 })), [end]);
  }
});
