// Which events were prepared for, so that `recover` undoes it: in memory, or in a file.
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../errors.ts';
import { isObject } from '../../formats/json-object.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { ChangeData } from '../schema-types.ts';
import { KeyedQueue } from './keyed-queue.ts';

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

export interface FileState extends PreparedState {
  /** What is prepared at present, for a start: what was drained or stopped before the restart still is. */
  all(): Promise<readonly Prepared[]>;
}

/**
 * For one process. Read at its first use, made where it is missing; each change is on disk before it counts.
 * Its functions reject with ConsumerError `state` where the file cannot be read or written.
 */
export function fileState(path: string): FileState {
  const queue = new KeyedQueue();
  let loading: Promise<Map<string, Prepared>> | null = null;
  const load = () => {
    loading ??= read(path).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  const change = (key: string, prepared: Prepared | null) =>
    queue.run(path, async () => {
      const events = await load();
      const next = new Map(events);
      if (prepared === null) next.delete(key);
      else next.set(key, prepared);
      await write(path, next);
      loading = Promise.resolve(next);
    });
  return {
    get: async (key) => (await load()).get(key),
    set: (key, prepared) => change(key, prepared),
    delete: (key) => change(key, null),
    all: async () => [...(await load()).values()],
  };
}

async function read(path: string): Promise<Map<string, Prepared>> {
  try {
    const content: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isObject(content)) throw new Error('it holds no JSON object');
    return new Map(Object.entries(content as Record<string, Prepared>));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map();
    throw new ConsumerError('state', `the state in ${path} cannot be read: recover by hand what was prepared, then remove the file`, {
      cause: error,
    });
  }
}

/** Beside it first, then by its name: a crash leaves the old one or the new one. */
async function write(path: string, events: ReadonlyMap<string, Prepared>): Promise<void> {
  const draft = `${path}.new`;
  try {
    const file = await open(draft, 'w', 0o600);
    await synced(file, () => file.writeFile(JSON.stringify(Object.fromEntries(events), null, 2)));
    await rename(draft, path);
    // The new name, too, must outlive a loss of power. Windows keeps names by itself, and flushes no folder (EPERM).
    const folder = process.platform === 'win32' ? null : await open(dirname(path)).catch(() => null);
    if (folder !== null) await synced(folder);
  } catch (error) {
    throw new ConsumerError('state', `the state in ${path} cannot be written: see that its folder is there, writable and not full`, {
      cause: error,
    });
  }
}

async function synced(file: FileHandle, work: () => Promise<void> = async () => {}): Promise<void> {
  try {
    await work();
    await file.sync();
  } finally {
    await file.close();
  }
}
