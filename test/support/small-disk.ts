// A size → a file system of its own of that size, where this user may mount one.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { codeOf } from '../../src/errors.ts';

export interface SmallDisk {
  readonly folder: string;
  /** Leaves not a page free. */
  fill(): void;
  /** Makes that room again. */
  free(): void;
}

/** A tmpfs, gone with the test; or why there is none. */
export function smallDisk(t: TestContext, size: string, parent = tmpdir()): SmallDisk | { readonly reason: string } {
  const folder = mkdtempSync(join(parent, 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    return { reason: `a small file system cannot be mounted here: ${(error as Error).message.trim()}` };
  }
  t.after(() => {
    // Lazily: a process that is still to be ended may have files open.
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true });
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(bavail * bsize));
      } catch (error) {
        // Another process took a page meanwhile, and the disk is full.
        if (codeOf(error) !== 'ENOSPC') throw error;
      }
    },
    free: () => rmSync(filler),
  };
}
