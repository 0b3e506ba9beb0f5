// A store beside its bridge, or without one → its CloudEvents in order, and those that are added.
import { sleep } from '../../time/clock.ts';
import { withStoreToRead } from '../store.ts';
import type { VerbContext } from '../verb.ts';
import type { Followed } from './followed.ts';

/** The longest delay of a row; a look at the store takes some microseconds. */
const LOOK_MS = 200;
/** The most rows, and bytes of their CloudEvents, that are read at once. */
const [ROWS, BYTES] = [32, 1024 * 1024];

/** Follows the journal until the signal aborts. @throws the signal's reason, or BridgeError BRIDGE_STORE_* */
export function tailStore(context: VerbContext, file: string, { sinceMs, changes, show }: Followed): Promise<never> {
  const { deps, signal, warn } = context;
  return withStoreToRead(context, file, async (outbox) => {
    const { journalPages } = outbox;
    const isWanted = ({ timeMs, change }: { timeMs: number; change: string }) =>
      timeMs >= (sinceMs ?? 0) && (changes === null || changes.includes(change));
    let pruned = journalPages.pruned();
    let position = sinceMs === null ? journalPages.newest() : 0;
    for (;;) {
      const read = () => journalPages.after(position, ROWS, BYTES);
      for (let page = read(); page.length > 0; page = read()) {
        for (const entry of page) {
          signal.throwIfAborted();
          if (isWanted(entry)) await show(Buffer.from(entry.bytes).toString());
          position = entry.position;
        }
        if (journalPages.pruned() > Math.max(position, pruned))
          warn('CloudEvents were pruned from the journal before they were read: some are missing here');
        pruned = journalPages.pruned();
      }
      while (!outbox.changedOutside()) await sleep(deps, LOOK_MS, signal);
    }
  });
}
