// Which events were prepared for, so that `recover` undoes it. Interface, and one in memory.
import type { ChangeData } from '../schema-types.ts';

/** What is kept of one event. */
export interface Prepared extends Pick<ChangeData, 'eventId' | 'eventType' | 'durationInSeconds' | 'resources' | 'notBefore'> {
  /** False from before `prepare` is called until it has ended well: half of it may have been done. */
  readonly isReady: boolean;
  /** Whether it has got worse since it was prepared first. */
  readonly isAgain: boolean;
}

/** By a key for each event. What must survive a restart goes to a file (`fileState`), or into a table of your own. */
export interface PreparedState {
  get(key: string): Promise<Prepared | undefined>;
  /** Resolves once it is kept. */
  set(key: string, prepared: Prepared): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Of one process, until it ends. */
export function memoryState(): PreparedState {
  const events = new Map<string, Prepared>();
  return {
    get: async (key) => events.get(key),
    set: async (key, prepared) => {
      events.set(key, prepared);
    },
    delete: async (key) => {
      events.delete(key);
    },
  };
}
