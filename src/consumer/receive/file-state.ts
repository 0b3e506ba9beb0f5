// A path → the prepared events, in a JSON file that outlives a restart.
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../errors.ts';
import { isObject } from '../../formats/json-object.ts';
import { ConsumerError } from '../consumer-error.ts';
import { KeyedQueue } from './keyed-queue.ts';
import type { Prepared, PreparedState } from './prepared-state.ts';

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
