// A path → checks without writing if a line could be appended; returns a note for the operator.
import { constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { exposureOf } from '../../src/secrets/file-exposure.ts';
import { expectRegular } from '../../src/secrets/regular-file.ts';
import { type Disk, ifThere } from './disk.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * @returns a note for the operator, or null
 * @throws the error of the file system, or ENOSPC if the disk is full
 */
export async function checkFile(path: string, rotates: boolean, disk: Disk): Promise<string | null> {
  const file = await ifThere(disk.realpath(path));
  if (file === null) {
    const folder = await disk.realpath(dirname(await placeOf(path, disk)));
    await disk.access(folder, R_OK | W_OK | X_OK);
    await expectRoom(folder, disk);
    const makers = exposureOf(folder)?.writers ?? null;
    const warning =
      makers === null
        ? ''
        : `; ${makers} may write to its folder and could create it first: choose a folder that only the bridge may write to`;
    return `${path} does not exist yet; the first delivery creates it${warning}`;
  }
  expectRegular(await disk.stat(file));
  await disk.access(file, R_OK | W_OK);
  await disk.access(dirname(file), rotates ? R_OK | W_OK | X_OK : R_OK | X_OK);
  await expectRoom(file, disk);
  const writers = exposureOf(file)?.writers ?? null;
  return writers === null ? null : `${file} may be changed by ${writers}: allow only its owner to write to it`;
}

/** Returns the path at which a file will be created: a link may already exist. A link to itself has failed before. */
async function placeOf(path: string, disk: Disk): Promise<string> {
  try {
    return await placeOf(resolve(dirname(path), await disk.readlink(path)), disk);
  } catch {
    return path;
  }
}

/** Some file systems report 0 blocks. */
async function expectRoom(place: string, disk: Disk): Promise<void> {
  const { blocks, bavail } = await disk.statfs(place);
  if (blocks > 0 && bavail === 0) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
}
