// Operations up to a crash → what the disk may hold: all that was flushed, any part of the rest.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { folderOfPath, type Operation } from './operations.ts';

/**
 * One change on disk that happens as a whole or, for bytes, in part. The model is the weakest that POSIX allows (ALICE,
 * OSDI 2014): bytes are durable by a flush of their file, names by a flush of their folder, and nothing else is. A rename
 * within one folder is atomic; between two folders, each folder has its half.
 */
export type Effect =
  | { readonly of: 'names'; readonly folder: string; readonly changes: readonly NameChange[] }
  | { readonly of: 'bytes'; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly of: 'size'; readonly file: number; readonly size: number };

interface NameChange {
  readonly path: string;
  /** Null if the name goes. */
  readonly file: number | null;
  readonly isFolder?: boolean;
}

/** What is certain and what is not after a crash behind so many operations. */
export interface Crash {
  /** In the order of the operations. */
  readonly effects: readonly Effect[];
  /** Indices of `effects` that no flush covers. */
  readonly open: readonly number[];
}

function effectsOf(operation: Operation): readonly Effect[] {
  switch (operation.does) {
    case 'name': {
      const { path, file, isFolder } = operation;
      return [names([{ path, file, isFolder }])];
    }
    case 'rename': {
      const [given, taken] = [
        { path: operation.to, file: operation.file },
        { path: operation.from, file: null },
      ];
      const isAtomic = folderOfPath(given.path) === folderOfPath(taken.path);
      return isAtomic ? [names([given, taken])] : [names([given]), names([taken])];
    }
    case 'remove':
      return [names([{ path: operation.path, file: null }])];
    case 'write':
      return [{ of: 'bytes', file: operation.file, at: operation.at, bytes: operation.bytes }];
    case 'cut':
      return [{ of: 'size', file: operation.file, size: operation.size }];
    default:
      return [];
  }
}

function names(changes: readonly [NameChange, ...NameChange[]]): Effect {
  return { of: 'names', folder: folderOfPath(changes[0].path), changes };
}

/** @param count so many operations had happened */
export function crashAfter(operations: readonly Operation[], count: number): Crash {
  const effects: Effect[] = [];
  let open: number[] = [];
  for (const operation of operations.slice(0, count)) {
    const covers = coverOf(operation);
    open = open.filter((index) => !covers(effects[index] as Effect));
    for (const effect of effectsOf(operation)) open.push(effects.push(effect) - 1);
  }
  return { effects, open };
}

function coverOf(operation: Operation): (effect: Effect) => boolean {
  if (operation.does === 'flush') return (effect) => effect.of !== 'names' && effect.file === operation.file;
  if (operation.does === 'flush names') return (effect) => effect.of === 'names' && effect.folder === operation.folder;
  return () => false;
}

/** The content of a folder: path → bytes, null for a folder. */
export type Content = ReadonlyMap<string, Buffer | null>;

/** Per file: its first effects that no crash from here on can undo, already applied. Saves doing so for each state. */
export type Settled = Map<number, SettledFile>;

interface SettledFile {
  readonly count: number;
  readonly bytes: Buffer;
}

const NEW_FILE: SettledFile = { count: 0, bytes: Buffer.alloc(0) };

/** Applies the effects in their order. What hangs on a folder without a name is gone. */
export function contentOf(effects: readonly Effect[], settled: Settled = new Map()): Content {
  const given = new Map<string, NameChange>();
  const byFile = new Map<number, FileEffect[]>();
  for (const effect of effects) {
    if (effect.of === 'names') name(effect.changes, given);
    else byFile.set(effect.file, [...(byFile.get(effect.file) ?? []), effect]);
  }
  const content = new Map<string, Buffer | null>();
  for (const path of [...given.keys()].sort()) {
    const { file, isFolder = false } = given.get(path) as NameChange;
    const folder = folderOfPath(path);
    if (folder !== '' && content.get(folder) !== null) continue;
    content.set(path, isFolder ? null : fileOf(byFile.get(file as number) ?? [], settled.get(file as number)));
  }
  return content;
}

function name(changes: readonly NameChange[], given: Map<string, NameChange>): void {
  for (const change of changes) {
    if (change.file === null) given.delete(change.path);
    else given.set(change.path, change);
  }
}

type FileEffect = Exclude<Effect, { of: 'names' }>;

function fileOf(effects: readonly FileEffect[], { count, bytes }: SettledFile = NEW_FILE): Buffer {
  const left = effects.slice(count);
  const ends = left.map((effect) => (effect.of === 'size' ? effect.size : effect.at + effect.bytes.length));
  const file = Buffer.alloc(Math.max(bytes.length, ...ends));
  let size = bytes.copy(file);
  for (const effect of left) {
    if (effect.of === 'bytes') {
      size = Math.max(size, effect.at + effect.bytes.copy(file, effect.at));
    } else {
      file.fill(0, effect.size);
      size = effect.size;
    }
  }
  return file.subarray(0, size);
}

/** Moves on with the effects of each file that stand before its first open one. */
export function settle(settled: Settled, { effects, open }: Crash): void {
  const isOpen = new Set(open.map((index) => effects[index]));
  const byFile = Map.groupBy(
    effects.filter((effect) => effect.of !== 'names'),
    ({ file }) => file,
  );
  for (const [file, of] of byFile) {
    const first = of.findIndex((effect) => isOpen.has(effect));
    const count = first === -1 ? of.length : first;
    const before = settled.get(file);
    if (count > (before?.count ?? 0)) settled.set(file, { count, bytes: fileOf(of.slice(0, count), before) });
  }
}

/** Writes the content into an empty folder. */
export function lay(content: Content, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, bytes] of content) {
    if (bytes === null) {
      mkdirSync(join(folder, path), { mode: 0o700 });
      continue;
    }
    const file = openSync(join(folder, path), 'wx', 0o600);
    writeSync(file, bytes);
    closeSync(file);
  }
}
