// What the file system is asked for → the same as an interface, for tests to put faults between.
import { access, open, readdir, readlink, realpath, rename, stat, statfs, unlink } from 'node:fs/promises';
import { codeOf } from '../../src/errors.ts';

export const disk = { access, open, readdir, readlink, realpath, rename, stat, statfs, unlink };

export type Disk = typeof disk;

/** What was asked of a file; null where it is not there. */
export async function ifThere<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
