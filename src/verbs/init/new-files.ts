// Texts and paths → new files, all or none; a file that is there is never overwritten.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { BridgeError, codeOf } from '../../errors.ts';

export interface NewFile {
  readonly path: string;
  readonly text: string;
  /** Whether only its owner may read it. On Windows, the folder decides. */
  readonly isSecret: boolean;
}

/** @throws BridgeError BRIDGE_INIT_WRITE if one of them is there */
export function expectNew(paths: readonly string[]): void {
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) throw failure(found, 'is there already, and init overwrites no file');
}

/** Writes all files, or none. @throws BridgeError BRIDGE_INIT_WRITE */
export function writeNew(files: readonly NewFile[]): void {
  const written: string[] = [];
  for (const { path, text, isSecret } of files) {
    try {
      writeFileSync(path, text, { flag: 'wx', mode: isSecret ? 0o600 : 0o644, flush: true });
      written.push(path);
    } catch (error) {
      const code = codeOf(error);
      // A file that was begun is incomplete.
      for (const each of code === 'EEXIST' ? written : [...written, path]) remove(each);
      const what = code === 'EEXIST' ? 'is there already, and init overwrites no file' : `cannot be written (${code})`;
      throw failure(path, what, error);
    }
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It must not hide the error for which the file is removed.
  }
}

function failure(path: string, what: string, cause?: unknown): BridgeError {
  return new BridgeError('BRIDGE_INIT_WRITE', `${path} ${what}; nothing was written`, { cause });
}
