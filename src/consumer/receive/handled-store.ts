// Source and id → whether a CloudEvent was handled. The interface, and one in memory.
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';

/**
 * Remembers what was handled. `key` is made of an event's source and id. Several processes may share one (a table, Redis): `claim` is atomic
 * then, and a claim whose process died is free again after a while that is longer than any handler runs.
 */
export interface HandledStore {
  /** `claimed`: handle it now. `handled`: it is a repeat. `busy`: another process is at it. */
  claim(key: string): Promise<'claimed' | 'handled' | 'busy'>;
  /** Its handler has ended well. Resolves once this is kept. */
  complete(key: string): Promise<void>;
  /** Its handler has failed: the next claim gets it. */
  abandon(key: string): Promise<void>;
}

export interface MemoryStoreOptions {
  /** How many keys are kept; the oldest go first. 10,000 where absent. */
  readonly maxKeys?: number;
  /** How long a key is kept, in milliseconds. 30 days where absent, as long as a bridge can replay. */
  readonly maxAgeMs?: number;
}

const DAY_MS = 86_400_000;

/** Of one process, until it ends. @throws ConsumerError `usage` for impossible bounds */
export function memoryHandledStore(options: MemoryStoreOptions, clock: Pick<Clock, 'elapsedMs'>): HandledStore {
  const { maxKeys = 10_000, maxAgeMs = 30 * DAY_MS } = options;
  if (!(maxKeys >= 1 && maxAgeMs > 0)) throw new ConsumerError('usage', 'maxKeys must be at least 1 and maxAgeMs more than 0');
  /** When each was handled, the oldest first. */
  const handled = new Map<string, number>();
  const claimed = new Set<string>();
  const forgetOld = () => {
    for (const [key, atMs] of handled) {
      if (handled.size <= maxKeys && clock.elapsedMs() - atMs < maxAgeMs) return;
      handled.delete(key);
    }
  };
  return {
    claim: async (key) => {
      forgetOld();
      if (handled.has(key)) return 'handled';
      if (claimed.has(key)) return 'busy';
      claimed.add(key);
      return 'claimed';
    },
    complete: async (key) => {
      claimed.delete(key);
      // Its place is at the end again.
      handled.delete(key);
      handled.set(key, clock.elapsedMs());
      forgetOld();
    },
    abandon: async (key) => {
      claimed.delete(key);
    },
  };
}
