// Every crash of a bridge and its store → all that others saw is stored.
import assert from 'node:assert/strict';
import test from 'node:test';
import { proveStore } from './store-crashes.ts';
import { withoutStrace } from './strace.ts';

test('after any crash the store has all that was sent and approved, and the next start sends the rest', {
  skip: withoutStrace,
}, async (t) => {
  const { crashes, states, resumed } = await proveStore({ seed: 1, isLong: false });
  t.diagnostic(`${crashes} crashes, ${states} states, ${resumed} resumed`);
  assert.ok(crashes > 1000 && states > 300 && resumed > 30, `${crashes} crashes, ${states} states, ${resumed} resumed`);
});
