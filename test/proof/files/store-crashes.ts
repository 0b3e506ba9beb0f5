// A seed → the crashes of a bridge's store, each state opened, and some continued to the end.
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { record, replay, wordsOf } from './recording.ts';
import { expectSame, expectStored, resume } from './store-judge.ts';

/** @throws what is wrong, with the crash that led to it */
export async function proveStore({ seed, isLong }: { readonly seed: number; readonly isLong: boolean }): Promise<{
  readonly crashes: number;
  readonly states: number;
  readonly resumed: number;
}> {
  const operations = await record('store');
  const { random } = new VirtualTime({ seed });
  let resumed = 0;
  const options = isLong ? { draws: 3, most: 4 } : { draws: 2, most: 2, oneOf: 30 };
  const done = await replay(operations, { seed, ...options }, async ({ said }, folder) => {
    expectStored(folder, said);
    if (random() * 6 >= 1) return;
    resumed += 1;
    expectSame(await resume(folder, said), wordsOf(operations));
  });
  return { ...done, resumed };
}
