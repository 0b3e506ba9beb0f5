// The files of a closed store → a folder of their own inside the store's, so that an empty store can begin in their place.
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../errors.ts';
import { storeError } from './errors.ts';
import { createPrivate } from './private-folder.ts';

/** Moves `file` and its write-ahead log into `set-aside-<YYYYMMDDTHHMMSSZ>-<vmId>` beside it. Returns that folder. @throws BridgeError BRIDGE_STORE_* */
export function moveAside(
  folder: string,
  file: string,
  options: { readonly vmId: string | null; readonly reason: string; readonly atMs: number },
): string {
  try {
    const target = makeFolder(join(folder, `set-aside-${compact(options.atMs)}-${plain(options.vmId)}`));
    createPrivate(join(target, 'reason.txt'), `${options.reason}\n`);
    // The log first: left beside the empty store that follows, it would be read as that one's.
    for (const name of [`${file}-wal`, file]) {
      if (existsSync(join(folder, name))) renameSync(join(folder, name), join(target, name));
    }
    rmSync(join(folder, `${file}-shm`), { force: true });
    return target;
  } catch (error) {
    throw storeError(error, join(folder, file));
  }
}

function makeFolder(path: string): string {
  for (let repeat = 1; ; repeat++) {
    const target = repeat === 1 ? path : `${path}-${repeat}`;
    try {
      mkdirSync(target, { mode: 0o700 });
      chmodSync(target, 0o700);
      return target;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

function compact(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** A vmId comes from the metadata service: as a file name it holds nothing but letters, digits and dashes. */
function plain(vmId: string | null): string {
  return vmId === null || vmId === '' ? 'unknown' : vmId.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 64);
}
