// The events that were prepared for, so that `recover` can undo it: in memory, or in a file.
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../errors.ts';
import { isObject } from '../../formats/json-object.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { ChangeData } from '../schema-types.ts';
import { KeyedQueue } from './keyed-queue.ts';

/** The stored state of one event. */
export interface Prepared extends Pick<ChangeData, 'eventId' | 'eventType' | 'durationInSeconds' | 'resources' | 'notBefore'> {
  /** False from before `prepare` is called until it has succeeded. It may have been done in part. */
  readonly isReady: boolean;
  /** True if the event has got worse since it was first prepared. */
  readonly isAgain: boolean;
}

/** Keeps the prepared events by key. To survive a restart, use a file (`fileState`) or your own table. */
export interface PreparedState {
  get(key: string): Promise<Prepared | undefined>;
  /** Resolves once it is stored. */
  set(key: string, prepared: Prepared): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Returns a state for one process, until it ends. */
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
  /**
   * Returns the events that are prepared at present. Call it at the start, so that a service that was drained before a restart stays
   * drained.
   */
  all(): Promise<readonly Prepared[]>;
}

/**
 * Returns a state in a file, for one process. The file is read at the first use and created if it is missing. Each change is on disk before
 * its promise resolves. The functions reject with ConsumerError `state` if the file cannot be read or written.
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
    if (!isObject(content)) throw new Error('it is not a JSON object');
    return new Map(Object.entries(content as Record<string, Prepared>));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map();
    throw new ConsumerError('state', `the state in ${path} cannot be read: recover the prepared events by hand, then remove the file`, {
      cause: error,
    });
  }
}

/** Writes another file first, then renames it, so that a crash leaves the old file or the new one. */
async function write(path: string, events: ReadonlyMap<string, Prepared>): Promise<void> {
  const draft = `${path}.new`;
  try {
    const file = await open(draft, 'w', 0o600);
    await synced(file, () => file.writeFile(JSON.stringify(Object.fromEntries(events), null, 2)));
    await rename(draft, path);
    // The new name must survive a power cut, too. Windows stores names by itself, and cannot flush a folder (EPERM).
    const folder = process.platform === 'win32' ? null : await open(dirname(path)).catch(() => null);
    if (folder !== null) await synced(folder);
  } catch (error) {
    throw new ConsumerError('state', `the state in ${path} cannot be written: check that its folder exists, is writable and is not full`, {
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
