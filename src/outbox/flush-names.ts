// A folder → the names in it on disk, which a flush of a file does not include.
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../errors.ts';

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

/** Does the same for the name of the folder itself, and for each folder above it. */
export function flushPath(folder: string): void {
  for (let each = resolve(folder); each !== dirname(each); each = dirname(each)) flushNames(dirname(each));
}
