// A path → whether a line could be appended to it now, without writing; and what is worth knowing.
import { constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { exposureOf } from '../../src/secrets/file-exposure.ts';
import { expectRegular } from '../../src/secrets/regular-file.ts';
import { type Disk, ifThere } from './disk.ts';

const { R_OK, W_OK, X_OK } = constants;

/** @throws what the file system says, or ENOSPC of a full disk. @returns what to tell; null for nothing */
export async function checkFile(path: string, rotates: boolean, disk: Disk): Promise<string | null> {
  const file = await ifThere(disk.realpath(path));
  if (file === null) {
    const folder = await disk.realpath(dirname(await placeOf(path, disk)));
    await disk.access(folder, R_OK | W_OK | X_OK);
    await expectRoom(folder, disk);
    const makers = exposureOf(folder)?.writers ?? null;
    const warning = makers === null ? '' : `; its folder may be written to by ${makers}, who could make it first: name one of its own`;
    return `${path} is not there yet, and is made at the first delivery${warning}`;
  }
  expectRegular(await disk.stat(file));
  await disk.access(file, R_OK | W_OK);
  await disk.access(dirname(file), rotates ? R_OK | W_OK | X_OK : R_OK | X_OK);
  await expectRoom(file, disk);
  const writers = exposureOf(file)?.writers ?? null;
  return writers === null ? null : `${file} may be changed by ${writers}: allow only its owner to write to it`;
}

/** Where a file that is not there yet will be: a link may lead there already. One that leads back to itself has failed before. */
async function placeOf(path: string, disk: Disk): Promise<string> {
  try {
    return await placeOf(resolve(dirname(path), await disk.readlink(path)), disk);
  } catch {
    return path;
  }
}

/** Some file systems count no blocks. */
async function expectRoom(place: string, disk: Disk): Promise<void> {
  const { blocks, bavail } = await disk.statfs(place);
  if (blocks > 0 && bavail === 0) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
}
