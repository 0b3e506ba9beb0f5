// System calls and a folder → operations on its files, and what the process printed.
import assert from 'node:assert/strict';
import { dirname, relative } from 'node:path';
import type { Call } from './strace.ts';

/** What one call does. Paths are relative to the folder; '' is the folder itself. A file keeps its number for ever. */
export type Operation =
  | { readonly does: 'name'; readonly path: string; readonly file: number; readonly isFolder: boolean }
  | { readonly does: 'rename'; readonly from: string; readonly to: string; readonly file: number }
  | { readonly does: 'remove'; readonly path: string }
  | { readonly does: 'write'; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly does: 'cut'; readonly file: number; readonly size: number }
  | { readonly does: 'flush'; readonly file: number }
  | { readonly does: 'flush names'; readonly folder: string }
  /** What the process wrote to its standard output: what somebody else has seen. */
  | { readonly does: 'say'; readonly text: string };

/** Changes none of what a crash leaves: SQLite makes this index again after every crash. */
const IS_REBUILT = /-shm$/;

interface Open {
  readonly path: string;
  readonly file: number;
  readonly appends: boolean;
  position: number;
}

/** @throws AssertionError for a call on the folder that this does not understand */
export function operationsIn(calls: readonly Call[], root: string): readonly Operation[] {
  return new Reader(root).read(calls);
}

class Reader {
  readonly #root: string;
  /** The files as the process sees them; null for a folder. */
  readonly #names = new Map<string, number | null>([['', null]]);
  readonly #sizes = new Map<number, number>();
  readonly #open = new Map<number, Open>();
  readonly #operations: Operation[] = [];
  #files = 0;

  constructor(root: string) {
    this.#root = root;
  }

  read(calls: readonly Call[]): readonly Operation[] {
    for (const call of calls) this.#take(call);
    return this.#operations;
  }

  #take({ name, args, result }: Call): void {
    if (name === 'write' && descriptorOf(args[0]) === 1) this.#add({ does: 'say', text: String(args[1]).trimEnd() });
    else if (name === 'openat') this.#opened(this.#inside(args[1]), String(args[2]), result);
    else if (name === 'mkdir') this.#folder(this.#inside(args[0]));
    else if (name === 'rename') this.#renamed(this.#inside(args[0]), this.#inside(args[1]));
    else if (name === 'link') this.#linked(this.#inside(args[0]), this.#inside(args[1]));
    else if (name === 'unlink') this.#removed(this.#inside(args[0]));
    else if (name === 'write') this.#wrote(this.#file(args[0]), args[1] as Buffer, null, result);
    else if (name === 'pwrite64') this.#wrote(this.#file(args[0]), args[1] as Buffer, Number(args[3]), result);
    else if (name === 'ftruncate') this.#cut(this.#file(args[0])?.file, Number(args[1]));
    else if (name === 'fsync' || name === 'fdatasync') this.#flushed(args[0]);
    else for (const each of args) assert.ok(!this.#isInside(each), `${name} is not understood: ${each}`);
  }

  #add(operation: Operation): void {
    this.#operations.push(operation);
  }

  #isInside(text: Buffer | string | undefined): boolean {
    return `${text}`.includes(`${this.#root}/`);
  }

  /** Null for a path that is not in the folder, or that no crash leaves. */
  #inside(path: Buffer | string | undefined): string | null {
    const inside = relative(this.#root, `${path}`);
    return `${path}`.startsWith('/') && !inside.startsWith('..') && !IS_REBUILT.test(inside) ? inside : null;
  }

  #opened(path: string | null, flags: string, descriptor: number): void {
    this.#open.delete(descriptor);
    if (path === null) return;
    let file = this.#names.get(path);
    if (file === undefined && flags.includes('O_CREAT')) file = this.#make(path);
    if (file === null || file === undefined) return;
    this.#open.set(descriptor, { path, file, appends: flags.includes('O_APPEND'), position: 0 });
    if (flags.includes('O_TRUNC') && this.#sizes.get(file)) this.#cut(file, 0);
  }

  #make(path: string): number {
    const file = this.#files++;
    this.#names.set(path, file);
    this.#sizes.set(file, 0);
    this.#add({ does: 'name', path, file, isFolder: false });
    return file;
  }

  #folder(path: string | null): void {
    if (path === null || path === '') return;
    this.#names.set(path, null);
    this.#add({ does: 'name', path, file: this.#files++, isFolder: true });
  }

  #renamed(from: string | null, to: string | null): void {
    if (from === null || to === null) return;
    const file = this.#names.get(from);
    assert.ok(typeof file === 'number', `${from} is renamed and is not a file`);
    this.#names.delete(from);
    this.#names.set(to, file);
    this.#add({ does: 'rename', from, to, file });
  }

  #linked(from: string | null, to: string | null): void {
    if (from === null || to === null) return;
    const file = this.#names.get(from);
    assert.ok(typeof file === 'number', `${from} gets a second name and is not a file`);
    this.#names.set(to, file);
    this.#add({ does: 'name', path: to, file, isFolder: false });
  }

  #removed(path: string | null): void {
    if (path === null) return;
    this.#names.delete(path);
    this.#add({ does: 'remove', path });
  }

  #file(argument: Buffer | string | undefined): Open | null {
    return this.#isInside(argument) ? (this.#open.get(descriptorOf(argument)) ?? null) : null;
  }

  #wrote(open: Open | null, bytes: Buffer, position: number | null, count: number): void {
    if (open === null) return;
    const size = this.#sizes.get(open.file) ?? 0;
    const at = position ?? (open.appends ? size : open.position);
    if (position === null) open.position = at + count;
    this.#sizes.set(open.file, Math.max(size, at + count));
    this.#add({ does: 'write', file: open.file, at, bytes: bytes.subarray(0, count) });
  }

  #cut(file: number | undefined, size: number): void {
    if (file === undefined) return;
    this.#sizes.set(file, size);
    this.#add({ does: 'cut', file, size });
  }

  #flushed(argument: Buffer | string | undefined): void {
    const open = this.#file(argument);
    if (open) this.#add({ does: 'flush', file: open.file });
    const folder = this.#inside(/<(.*)>/.exec(`${argument}`)?.[1]);
    if (!open && folder !== null && this.#names.get(folder) === null) this.#add({ does: 'flush names', folder });
  }
}

function descriptorOf(argument: Buffer | string | undefined): number {
  return Number.parseInt(`${argument}`, 10);
}

/** The folder of a path relative to the root. */
export function folderOfPath(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}
