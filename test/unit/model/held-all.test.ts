// The stored hold of everything → what operators see.
import assert from 'node:assert/strict';
import test from 'node:test';
import { heldAllOf } from '../../../src/model/held-all.ts';
import { isOfAll, isSameOwner, VIA_ALL } from '../../../src/model/hold-owner.ts';

test('times are RFC 3339, and how it came is left out', () => {
  const at = { wallMs: Date.parse('2026-01-01T00:00:00.250Z'), elapsedMs: null };
  assert.deepEqual(heldAllOf({ by: 'ops', via: 'token', at, reason: null }), {
    by: 'ops',
    at: '2026-01-01T00:00:00.250Z',
    reason: null,
  });
  assert.equal(heldAllOf(null), null);
});

test('the hold of everything of an approver has another owner than its own hold and that of its sink', () => {
  const [all, own, sink] = [VIA_ALL, 'token', 'sink:drain'].map((via) => ({ approver: 'ops', via }));
  assert.ok(all && own && sink);
  assert.deepEqual([all, own, sink].map(isOfAll), [true, false, false]);
  assert.deepEqual([isSameOwner(all, { ...all }), isSameOwner(all, own), isSameOwner(all, sink)], [true, false, false]);
});
