// A path → the text of a regular file of at most 1 MiB; anything else is rejected without waiting.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { codeOf } from '../errors.ts';

const LARGEST_BYTES = 1024 * 1024;
/**
 * If a pipe replaces the file between the check and the opening, these flags prevent waiting for it. Windows has
 * neither flag.
 */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** The path does not lead to a usable file; the message has the reason. */
export class UnfitFile extends Error {}

/**
 * Reads a file that a user names: a configuration, a secret, a certificate.
 * @throws if it does not exist, is a pipe, a device or a folder, or is longer than 1 MiB; `fileReadFault` returns a
 * message for it
 */
export function readRegularFile(path: string): string {
  // Checked before opening, because opening some devices has an effect.
  expectShortFile(statSync(path));
  const file = openSync(path, FLAGS);
  try {
    expectShortFile(fstatSync(file));
    return textOf(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Returns the message for an error of `readRegularFile`, to follow the file's name: `cannot be read (ENOENT)`. Never
 * quotes the file.
 */
export function fileReadFault(error: unknown): string {
  return error instanceof UnfitFile
    ? `cannot be read: ${error.message}`
    : `cannot be read (${codeOf(error) ?? 'unreadable'})`;
}

/** @throws UnfitFile for a pipe, a device, a socket or a folder */
export function expectRegular(entry: Stats): void {
  if (!entry.isFile()) throw new UnfitFile(`it is ${kindOf(entry)}, not a regular file`);
}

function expectShortFile(entry: Stats): void {
  expectRegular(entry);
  expectShort(entry.size);
}

function expectShort(bytes: number): void {
  if (bytes > LARGEST_BYTES) throw new UnfitFile('it is longer than 1 MiB');
}

/** Reads to the end, because files of /proc have size 0, and other files may grow. */
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
