// Each page of a small store with flipped bits, its log cut and flipped → refused, or nothing lost.
import assert from 'node:assert/strict';
import test from 'node:test';
import { damageLog, flipPages } from './store-damage.ts';

test('a start on a store with a flipped bit refuses with a named error, or loses and alters nothing', async (t) => {
  const { refused, whole } = await flipPages({ seed: 1, bits: 8 });
  t.diagnostic(`${refused} refused, ${whole} whole`);
  assert.ok(refused > 30 && whole > 30, `${refused} refused, ${whole} whole`);
});

test('a start on a store whose log is cut or has a flipped bit refuses, or invents nothing', async (t) => {
  const { refused, whole } = await damageLog({ seed: 1, bits: 1, oneOf: 10 });
  t.diagnostic(`${refused} refused, ${whole} without anything invented`);
  assert.ok(whole > 100, `${whole} starts`);
});
