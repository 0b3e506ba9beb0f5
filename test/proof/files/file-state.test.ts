// Every crash of a consumer's file state → it opens, with each confirmed change.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { fileState, type StoredEvent } from '../../../src/consumer/receive/prepared-state.ts';
import { record, replay } from './recording.ts';
import { withoutStrace } from './strace.ts';
import { stateAfter, stateChanges } from './writers/state-changes.ts';

for (const seed of [1, 2]) {
  test(`after any crash fileState has each change that it confirmed (seed ${seed})`, {
    skip: withoutStrace,
  }, async (t) => {
    const changes = stateChanges(seed);
    const operations = await record('file-state', String(seed));
    const { crashes, states } = await replay(operations, { seed, draws: 3 }, async ({ said }, folder) => {
      const state = fileState(join(folder, 'state.json'));
      const found: Record<string, StoredEvent> = {};
      for (const key of new Set(changes.map((change) => change.key))) {
        const event = await state.get(key);
        if (event !== undefined) found[key] = event;
      }
      const allowed = [stateAfter(changes, said.length), stateAfter(changes, said.length + 1)];
      assert.ok(
        allowed.some((each) => same(each, found)),
        `${JSON.stringify(found)} is not what it stored`,
      );
    });
    t.diagnostic(`${crashes} crashes, ${states} states`);
    assert.ok(crashes > 60 && states > 200, `only ${crashes} crashes, ${states} states`);
  });
}

function same(one: object, other: object): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
