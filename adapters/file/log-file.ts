// Lines and a path → the lines appended and flushed, even if others changed the file.
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { expectRegular } from '../../src/secrets/regular-file.ts';
import { type Disk, ifThere } from './disk.ts';
import type { Rotation } from './file-options.ts';
import { flushFolder, rotateFile } from './rotation.ts';

/** The result of an `append`. */
interface Appended {
  /** The number of lines on disk, counted from the first. */
  readonly durable: number;
  /** The error that stopped the others; undefined if all are on disk. */
  readonly failure?: unknown;
}

interface Found {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
}

const LINE_END = Buffer.from('\n');
/**
 * O_NONBLOCK: if a pipe replaces the file after the check, opening it does not block. Windows lacks the last two flags.
 */
const FLAGS =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const MODE = 0o640;

/**
 * Opens and closes the file for each append. It therefore writes to the current file, even if the old one was moved,
 * truncated or deleted, and does not block unmounting. One `append` at a time.
 */
export class LogFile {
  readonly #path: string;
  readonly #rotation: Rotation | null;
  readonly #disk: Disk;
  /** The file after the last append that ended with a whole line and a durable name; null if unknown. */
  #left: Found | null = null;
  /** True from a failed flush to the next good one: the kernel may have dropped the bytes that it still shows. */
  #isDoubtful = false;

  constructor(path: string, rotation: Rotation | null, disk: Disk) {
    this.#path = path;
    this.#rotation = rotation;
    this.#disk = disk;
  }

  /** Appends each line with a line end. Never rejects. */
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

  /** Writes the lines that fit into the file, or rotates it if none fits. */
  async #fill(lines: readonly Uint8Array[]): Promise<Appended> {
    const handle = await this.#open();
    try {
      const found = await handle.stat();
      expectRegular(found);
      const isTorn = await this.#isTorn(handle, found);
      const fitting = this.#fitting(lines, found.size + Number(isTorn));
      const { bytes, durable, failure } = await write(handle, isTorn, fitting);
      if (bytes > 0) await this.#flush(handle);
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
      // Checked before opening, because opening some devices has side effects.
      if (found) expectRegular(found);
    }
    return await this.#disk.open(this.#path, FLAGS, MODE);
  }

  /**
   * Returns whether a line end is missing. If the file has changed since the last append, it may be new: its name is
   * then made durable.
   */
  async #isTorn(handle: FileHandle, { dev, ino, size }: Found): Promise<boolean> {
    const left = this.#left;
    if (left && left.dev === dev && left.ino === ino && left.size === size) return false;
    await flushFolder(await this.#disk.realpath(this.#path), this.#disk);
    if (size === 0 || this.#isDoubtful) return size > 0;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return !buffer.equals(LINE_END);
  }

  /** @throws if the disk fails; the state of what was written is then unknown */
  async #flush(handle: FileHandle): Promise<void> {
    this.#isDoubtful = true;
    await handle.datasync();
    this.#isDoubtful = false;
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

/** Writes without a flush. Never rejects: if a write fails, whole lines before the failure count. */
async function write(
  handle: FileHandle,
  isTorn: boolean,
  lines: readonly Uint8Array[],
): Promise<Appended & { readonly bytes: number }> {
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
