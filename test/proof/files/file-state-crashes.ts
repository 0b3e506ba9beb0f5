// Every crash of a consumer's file state → it opens, with each confirmed change.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fileState, type StoredEvent } from '../../../src/consumer/receive/prepared-state.ts';
import { expect } from '../found-fault.ts';
import { type Check, expectEnough } from './check.ts';
import { record, replay } from './recording.ts';
import { stateAfter, stateChanges } from './writers/state-changes.ts';

export const proveFileState: Check = async ({ seed, isLong, share }) => {
  const changes = stateChanges(seed);
  const operations = await record('file-state', String(seed));
  const options = { seed, share, draws: isLong ? 40 : 3 };
  const { crashes, states } = await replay(operations, options, async ({ said }, folder) => {
    const state = fileState(join(folder, 'state.json'));
    const found: Record<string, StoredEvent> = {};
    for (const key of new Set(changes.map((change) => change.key))) {
      const event = await state.get(key);
      if (event !== undefined) found[key] = event;
    }
    // The change after the last one that was confirmed may be there, too.
    const allowed = [stateAfter(changes, said.length), stateAfter(changes, said.length + 1)];
    const isAllowed = allowed.some((each) => isDeepStrictEqual({ ...each }, found));
    expect(isAllowed, 'lost', `${JSON.stringify(found)} is not what it stored`);
  });
  expectEnough(states, 150 / share.of, 'states');
  return { did: `${crashes} crashes, ${states} states` };
};
