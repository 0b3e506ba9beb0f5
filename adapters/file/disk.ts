// Calls of the file system → an interface, which tests replace to inject faults.
import { access, open, readdir, readlink, realpath, rename, stat, statfs, unlink } from 'node:fs/promises';
import { codeOf } from '../../src/errors.ts';

export const disk = { access, open, readdir, readlink, realpath, rename, stat, statfs, unlink };

export type Disk = typeof disk;

/** Returns the result of a call, or null if the file does not exist. */
export async function ifThere<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
