// Lines and a path → the lines at its end, flushed to disk, whatever others did to the file.
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { expectRegular } from '../../src/secrets/regular-file.ts';
import { type Disk, ifThere } from './disk.ts';
import type { Rotation } from './file-options.ts';
import { flushFolder, rotateFile } from './rotation.ts';

/** What came of an `append`. */
export interface Appended {
  /** So many of the lines, from the first on, are on disk. */
  readonly durable: number;
  /** Why the others are not; undefined where all are. */
  readonly failure?: unknown;
}

interface Found {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
}

const LINE_END = Buffer.from('\n');
/** Should a pipe take the file's place between the look and the opening, it is not waited for. Windows has neither of the last two. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const MODE = 0o640;

/**
 * Opens the file for each append and leaves nothing open: the file of that moment is written, whether it was moved, truncated or deleted
 * since, and no disk is kept busy. One `append` at a time.
 */
export class LogFile {
  readonly #path: string;
  readonly #rotation: Rotation | null;
  readonly #disk: Disk;
  /** What the file was when it was last left with a whole line at its end and its name on disk; null where that is not known. */
  #left: Found | null = null;

  constructor(path: string, rotation: Rotation | null, disk: Disk) {
    this.#path = path;
    this.#rotation = rotation;
    this.#disk = disk;
  }

  /** Gives each line its line end. Never rejects. */
  async append(lines: readonly Uint8Array[]): Promise<Appended> {
    let durable = 0;
    try {
      while (durable < lines.length) {
        const { durable: more, failure } = await this.#fill(lines.slice(durable));
        durable += more;
        if (failure !== undefined) throw failure;
      }
      return { durable };
    } catch (failure) {
      this.#left = null;
      return { durable, failure };
    }
  }

  /** Writes what has room in the file as it is now; rotates it where nothing has. */
  async #fill(lines: readonly Uint8Array[]): Promise<Appended> {
    const handle = await this.#open();
    try {
      const found = await handle.stat();
      expectRegular(found);
      const isTorn = await this.#isTorn(handle, found);
      const fitting = this.#fitting(lines, found.size + Number(isTorn));
      const { bytes, durable, failure } = await write(handle, isTorn, fitting);
      if (failure !== undefined) return { durable, failure };
      this.#left = { dev: found.dev, ino: found.ino, size: found.size + bytes };
      if (fitting.length > 0) return { durable };
    } finally {
      await handle.close();
    }
    if (this.#rotation) await rotateFile(await this.#disk.realpath(this.#path), this.#rotation.keep, this.#disk);
    return { durable: 0 };
  }

  async #open(): Promise<FileHandle> {
    if (this.#left === null) {
      const found = await ifThere(this.#disk.stat(this.#path));
      // Before it is opened: some devices do something when they are.
      if (found) expectRegular(found);
    }
    return await this.#disk.open(this.#path, FLAGS, MODE);
  }

  /** Whether a line end is missing. A file that is not as it was left may be new, too: then its name is made durable. */
  async #isTorn(handle: FileHandle, { dev, ino, size }: Found): Promise<boolean> {
    const left = this.#left;
    if (left && left.dev === dev && left.ino === ino && left.size === size) return false;
    await flushFolder(await this.#disk.realpath(this.#path), this.#disk);
    if (size === 0) return false;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return !buffer.equals(LINE_END);
  }

  #fitting(lines: readonly Uint8Array[], size: number): readonly Uint8Array[] {
    if (this.#rotation === null) return lines;
    let [count, total] = [0, size];
    for (const { length } of lines) {
      if (total > 0 && total + length + 1 > this.#rotation.size) break;
      total += length + 1;
      count += 1;
    }
    return lines.slice(0, count);
  }
}

/** Flushes once. What the disk took before it failed counts as far as it is whole. @throws where it cannot be flushed: then nothing is known. */
async function write(handle: FileHandle, isTorn: boolean, lines: readonly Uint8Array[]): Promise<Appended & { readonly bytes: number }> {
  const chunk = Buffer.concat([...(isTorn ? [LINE_END] : []), ...lines.flatMap((line) => [line, LINE_END])]);
  let bytes = 0;
  let stopped: { readonly failure: unknown } | null = null;
  while (bytes < chunk.length && stopped === null) {
    try {
      bytes += (await handle.write(chunk, bytes)).bytesWritten;
    } catch (failure) {
      stopped = { failure };
    }
  }
  if (bytes > 0) await handle.datasync();
  return { bytes, durable: wholeLines(lines, bytes - Number(isTorn)), ...stopped };
}

function wholeLines(lines: readonly Uint8Array[], bytes: number): number {
  let [whole, end] = [0, 0];
  for (const { length } of lines) {
    end += length + 1;
    if (end <= bytes) whole += 1;
  }
  return whole;
}
