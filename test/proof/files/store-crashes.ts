// A seed → the crashes of a bridge's store, each state opened, and some continued to the end.
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { type Check, expectEnough } from './check.ts';
import { MAINTENANCES } from './maintenances.ts';
import { record, replay, wordsOf } from './recording.ts';
import { expectSame, expectStored, resume } from './store-judge.ts';

/** One state of so many is continued to the end. */
const RESUMED = 6;

export const proveStore: Check = async ({ seed, isLong, share }) => {
  const operations = await record('store');
  const { random } = new VirtualTime({ seed });
  let resumed = 0;
  const options = isLong ? { draws: 3, most: 4 } : { draws: 2, most: 2, oneOf: 100 };
  const { crashes, states } = await replay(operations, { seed, share, ...options }, async ({ said }, folder) => {
    expectStored(folder, said);
    if (random() * RESUMED >= 1) return;
    resumed += 1;
    expectSame(await resume(folder, said), wordsOf(operations));
  });
  expectEnough(resumed, 30 / share.of, 'states that were continued');
  return {
    did: `${crashes} crashes, ${states} states opened, ${resumed} continued to the end`,
    maintenances: resumed * MAINTENANCES,
  };
};
