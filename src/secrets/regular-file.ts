// A path → the text of a regular file of at most 1 MiB; all else is refused without waiting.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { codeOf } from '../errors.ts';

const LARGEST_BYTES = 1024 * 1024;
/** Should a pipe take the file's place between the look and the opening, it is not waited for either. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** What a path leads to cannot serve as a file; the message says why. */
export class UnfitFile extends Error {}

/**
 * Reads a configuration, a secret, a certificate: whatever a person names by its path.
 * @throws where there is none, it is a pipe, a device or a folder, or longer than 1 MiB; `fileReadFault` says it in words
 */
export function readRegularFile(path: string): string {
  // Before it is opened: some devices do something when they are.
  expectShortFile(statSync(path));
  const file = openSync(path, FLAGS);
  try {
    expectShortFile(fstatSync(file));
    return textOf(file);
  } finally {
    closeSync(file);
  }
}

/** What `readRegularFile` threw, behind the file's name: `cannot be read (ENOENT)`. Without a word of what the file holds. */
export function fileReadFault(error: unknown): string {
  return error instanceof UnfitFile ? `cannot be read: ${error.message}` : `cannot be read (${codeOf(error) ?? 'unreadable'})`;
}

/** @throws UnfitFile where it is a pipe, a device, a socket or a folder */
export function expectRegular(entry: Stats): void {
  if (!entry.isFile()) throw new UnfitFile(`it is ${kindOf(entry)}, no regular file`);
}

function expectShortFile(entry: Stats): void {
  expectRegular(entry);
  expectShort(entry.size);
}

function expectShort(bytes: number): void {
  if (bytes > LARGEST_BYTES) throw new UnfitFile('it is longer than 1 MiB');
}

/** Files of /proc say that they are empty, and others may grow. */
function textOf(file: number): string {
  const chunks: Buffer[] = [];
  for (let length = 0; ; expectShort(length)) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const read = readSync(file, chunk);
    if (read === 0) return Buffer.concat(chunks).toString('utf8');
    chunks.push(chunk.subarray(0, read));
    length += read;
  }
}

function kindOf(entry: Stats): string {
  if (entry.isDirectory()) return 'a folder';
  return entry.isFIFO() ? 'a pipe' : entry.isSocket() ? 'a socket' : 'a device';
}
