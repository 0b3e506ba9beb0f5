// A folder → the names in it on disk, which a flush of a file does not include.
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../../errors.ts';

/** File systems that store names by themselves report these. */
const NOT_NEEDED = ['EINVAL', 'ENOTSUP', 'ENOSYS', 'EBADF'];

/**
 * Makes the names in a folder survive a power failure. Does nothing on Windows, which stores names by itself, and for a
 * folder that this user cannot read.
 * @throws the error of the disk
 */
export function flushNames(folder: string): void {
  if (process.platform === 'win32') return;
  let handle: number;
  try {
    handle = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(handle);
  } catch (error) {
    if (!NOT_NEEDED.includes(String(codeOf(error)))) throw error;
  } finally {
    closeSync(handle);
  }
}

/** Flushes the name of the folder itself, and for each folder above it. */
export function flushPath(folder: string): void {
  for (let each = resolve(folder); each !== dirname(each); each = dirname(each)) flushNames(dirname(each));
}

/**
 * Moves a file to another folder. A power failure leaves both names, and never none: a rename between folders is two
 * changes for some file systems.
 * @throws the error of the disk
 */
export function moveToFolder(from: string, to: string): void {
  if (hasLink(from, to)) {
    flushNames(dirname(to));
    rmSync(from);
  } else {
    renameSync(from, to);
    flushNames(dirname(to));
  }
  flushNames(dirname(from));
}

/** Returns false on file systems without hard links. */
function hasLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}
