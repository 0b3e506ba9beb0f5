// Prepared events, so that `recover` can undo it, and last ends: in memory, or in a file.
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../errors.ts';
import { isObject } from '../../formats/json-object.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { ChangeData } from '../schema-types.ts';
import { KeyedQueue } from './keyed-queue.ts';
import type { LastEnd } from './last-end.ts';

/** An event that is prepared, at least in part. */
export interface Prepared
  extends Pick<ChangeData, 'eventId' | 'eventType' | 'durationInSeconds' | 'resources' | 'notBefore'> {
  /** False from before `prepare` is called until it has succeeded. It may have been done in part. */
  readonly isReady: boolean;
  /** True if the event has got worse since it was first prepared. */
  readonly isAgain: boolean;
  /** The end of its occurrence before, if there was one. */
  readonly lastEnd?: LastEnd;
}

/** An event that has ended, and for which nothing is prepared now. */
export interface Ended {
  readonly lastEnd: LastEnd;
  /** False once a newer `scheduled` or `started` has come. */
  readonly isOver: boolean;
}

export type StoredEvent = Prepared | Ended;

export function isPrepared(event: StoredEvent): event is Prepared {
  return 'isReady' in event;
}

/**
 * Keeps the prepared events, and the last ends of others, by key. To survive a restart, use a file (`fileState`) or
 * your own table. Store each value whole, for example as JSON.
 */
export interface PreparedState {
  get(key: string): Promise<StoredEvent | undefined>;
  /** Resolves once it is stored. */
  set(key: string, event: StoredEvent): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Deletes the events that are not prepared and whose `lastEnd.keptUntilMs` has come. If absent, ends are never
   * deleted.
   */
  deleteExpired?(nowMs: number): Promise<void>;
}

/** Returns a state for one process, until it ends. */
export function memoryState(): PreparedState {
  const events = new Map<string, StoredEvent>();
  return {
    get: async (key) => events.get(key),
    set: async (key, event) => {
      events.set(key, event);
    },
    delete: async (key) => {
      events.delete(key);
    },
    deleteExpired: async (nowMs) => {
      for (const key of expiredIn(events, nowMs)) events.delete(key);
    },
  };
}

export interface FileState extends PreparedState {
  /**
   * Returns the events that are prepared at present. Call it at the start, so that a service that was drained before a
   * restart stays drained.
   */
  all(): Promise<readonly Prepared[]>;
}

/**
 * Returns a state in a file, for one process. The file is read at the first use and created if it is missing. Each
 * change is on disk before its promise resolves. The functions reject with ConsumerError `state` if the file cannot be
 * read or written.
 */
export function fileState(path: string): FileState {
  const queue = new KeyedQueue();
  let loading: Promise<Map<string, StoredEvent>> | null = null;
  const load = () => {
    loading ??= read(path).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  /** @param make returns false if nothing has changed */
  const change = (make: (events: Map<string, StoredEvent>) => unknown) =>
    queue.run(path, async () => {
      const next = new Map(await load());
      if (make(next) === false) return;
      await write(path, next);
      loading = Promise.resolve(next);
    });
  return {
    get: async (key) => (await load()).get(key),
    set: (key, event) => change((events) => events.set(key, event)),
    delete: (key) => change((events) => events.delete(key)),
    deleteExpired: (nowMs) => change((events) => expiredIn(events, nowMs).map((key) => events.delete(key)).length > 0),
    all: async () => [...(await load()).values()].filter(isPrepared),
  };
}

function expiredIn(events: ReadonlyMap<string, StoredEvent>, nowMs: number): readonly string[] {
  return [...events].flatMap(([key, event]) => (!isPrepared(event) && event.lastEnd.keptUntilMs <= nowMs ? [key] : []));
}

async function read(path: string): Promise<Map<string, StoredEvent>> {
  try {
    const content: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isObject(content)) throw new Error('it is not a JSON object');
    return new Map(Object.entries(content as Record<string, StoredEvent>));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Map();
    throw new ConsumerError(
      'state',
      `the state in ${path} cannot be read: recover the prepared events by hand, then remove the file`,
      {
        cause: error,
      },
    );
  }
}

/** Writes another file first, then renames it, so that a crash leaves the old file or the new one. */
async function write(path: string, events: ReadonlyMap<string, StoredEvent>): Promise<void> {
  const draft = `${path}.new`;
  try {
    const file = await open(draft, 'w', 0o600);
    await synced(file, () => file.writeFile(JSON.stringify(Object.fromEntries(events), null, 2)));
    await rename(draft, path);
    // The new name must survive a power cut, too. Windows stores names by itself, and cannot flush a folder (EPERM).
    const folder = process.platform === 'win32' ? null : await open(dirname(path)).catch(() => null);
    if (folder !== null) await synced(folder);
  } catch (error) {
    throw new ConsumerError(
      'state',
      `the state in ${path} cannot be written: check that its folder exists, is writable and is not full`,
      {
        cause: error,
      },
    );
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
