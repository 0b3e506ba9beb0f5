// Time without a good document → blind once, restored once (behaviour 3.4).
import assert from 'node:assert/strict';
import test from 'node:test';
import { observeBlind, observeRestored } from '../../../src/changes/blindness.ts';
import type { Instant } from '../../../src/model/events.ts';
import { sightChangeId } from '../../../src/model/ids.ts';
import { momentAt, START_MS } from '../../support/events.ts';

const settings = {
  limitMs: 60_000,
  reason: 'the metadata service did not answer',
  observerId: 'westno_0',
  isUsed: () => false,
};
const SINCE = '2022-04-11T22:00:05Z';

test('blind is reported 60 s after the last good document, to the millisecond, with times in whole seconds', () => {
  const sight = { blindness: null, lastGoodAt: momentAt(5999), firstRequestAt: momentAt(0) };
  assert.equal(observeBlind(sight, momentAt(5999 + 59_999), settings), null);
  const at = momentAt(5999 + 60_000);
  assert.deepEqual(observeBlind(sight, at, settings), {
    change: {
      kind: 'sight',
      phase: 'blind',
      id: sightChangeId('blind', 'westno_0', SINCE),
      since: SINCE,
      lastDocumentAt: SINCE,
      reason: 'the metadata service did not answer',
      at,
    },
    blindness: { since: SINCE, lastDocumentAt: SINCE },
  });
});

test('a restart counts from this process’s first request, but since is still the last good document’s time', () => {
  for (const storedMs of [5000, 3_600_000]) {
    const lastGoodAt: Instant = { wallMs: START_MS + storedMs, elapsedMs: null };
    const sight = { blindness: null, lastGoodAt, firstRequestAt: { wallMs: START_MS + 600_000, elapsedMs: 10 } };
    assert.equal(observeBlind(sight, { wallMs: START_MS + 659_999, elapsedMs: 60_009 }, settings), null);
    const seen = observeBlind(sight, { wallMs: START_MS + 660_000, elapsedMs: 60_010 }, settings);
    assert.equal(seen?.change.since, storedMs === 5000 ? SINCE : '2022-04-11T23:00:00Z');
  }
});

test('without any good document since is the first request’s time, and lastDocumentAt is null', () => {
  const sight = { blindness: null, lastGoodAt: null, firstRequestAt: momentAt(5500) };
  assert.equal(observeBlind(sight, momentAt(5500 + 129_999), { ...settings, limitMs: 130_000 }), null);
  const seen = observeBlind(sight, momentAt(5500 + 130_000), { ...settings, limitMs: 130_000 });
  assert.deepEqual([seen?.change.since, seen?.change.lastDocumentAt], [SINCE, null]);
});

test('a blindness is reported once, even across a restart', () => {
  const blindness = { since: SINCE, lastDocumentAt: null };
  assert.equal(
    observeBlind({ blindness, lastGoodAt: null, firstRequestAt: momentAt(0) }, momentAt(500_000), settings),
    null,
  );
});

test('the wall clock may jump without a blindness, or the end of one', () => {
  const sight = { blindness: null, lastGoodAt: momentAt(0), firstRequestAt: momentAt(0) };
  assert.equal(observeBlind(sight, { wallMs: START_MS + 3_600_000, elapsedMs: 59_999 }, settings), null);
  assert.ok(observeBlind(sight, { wallMs: START_MS - 3_600_000, elapsedMs: 60_000 }, settings));
});

test('the first good document after a blindness restores with the same since', () => {
  assert.equal(observeRestored(null, momentAt(0), settings), null);
  const blindness = { since: SINCE, lastDocumentAt: null };
  const seen = observeRestored(blindness, momentAt(90_000), settings);
  assert.deepEqual(seen, {
    change: {
      kind: 'sight',
      phase: 'restored',
      id: sightChangeId('restored', 'westno_0', SINCE),
      since: SINCE,
      lastDocumentAt: null,
      reason: null,
      at: momentAt(90_000),
    },
    blindness: null,
  });
});

test('two blindnesses since the same second get distinct ids', () => {
  const used = new Set<string>();
  const sight = { blindness: null, lastGoodAt: momentAt(0), firstRequestAt: momentAt(0) };
  const ids = [60_000, 61_000].map((ms) => {
    const id = observeBlind(sight, momentAt(ms), { ...settings, isUsed: (one) => used.has(one) })?.change.id ?? '';
    used.add(id);
    return id;
  });
  assert.equal(ids[1], `${ids[0]}:r2`);
});
