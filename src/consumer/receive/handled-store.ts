// Source and id → whether a CloudEvent was handled: the interface, and a store in memory.
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';

/**
 * Stores which events were handled. `key` is made from an event's source and id. Several processes may share a store (a
 * table, Redis). Then `claim` must be atomic, and the claim of a process that died must expire after longer than any
 * handler runs.
 */
export interface HandledStore {
  /** `claimed`: handle it now. `handled`: it is a repeat. `busy`: another process is handling it. */
  claim(key: string): Promise<'claimed' | 'handled' | 'busy'>;
  /** Called after its handler has succeeded. Resolves once this is stored. */
  complete(key: string): Promise<void>;
  /** Called after its handler has failed, so that the next claim succeeds. */
  abandon(key: string): Promise<void>;
}

export interface MemoryStoreOptions {
  /** How many keys are kept; the oldest are dropped first. 10,000 if absent. */
  readonly maxKeys?: number;
  /** How long a key is kept, in milliseconds. 30 days if absent, because a bridge can replay for that long. */
  readonly maxAgeMs?: number;
}

const DAY_MS = 86_400_000;

/**
 * Returns a store for one process, until it ends.
 * @throws ConsumerError `usage` if the bounds are not valid
 */
export function memoryHandledStore(options: MemoryStoreOptions, clock: Pick<Clock, 'elapsedMs'>): HandledStore {
  const { maxKeys = 10_000, maxAgeMs = 30 * DAY_MS } = options;
  if (!(maxKeys >= 1 && maxAgeMs > 0))
    throw new ConsumerError('usage', 'maxKeys must be at least 1 and maxAgeMs more than 0');
  /** The time when each key was handled, the oldest first. */
  const handled = new Map<string, number>();
  const claimed = new Set<string>();
  const dropOld = () => {
    for (const [key, atMs] of handled) {
      if (handled.size <= maxKeys && clock.elapsedMs() - atMs < maxAgeMs) return;
      handled.delete(key);
    }
  };
  return {
    claim: async (key) => {
      dropOld();
      if (handled.has(key)) return 'handled';
      if (claimed.has(key)) return 'busy';
      claimed.add(key);
      return 'claimed';
    },
    complete: async (key) => {
      claimed.delete(key);
      // Moves the key to the end.
      handled.delete(key);
      handled.set(key, clock.elapsedMs());
      dropOld();
    },
    abandon: async (key) => {
      claimed.delete(key);
    },
  };
}
