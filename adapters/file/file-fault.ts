// What the file system answered → a failure that says what to do, and whether time mends it.
import { BridgeError, codeOf, messageOf } from '../../src/errors.ts';
import { UnfitFile } from '../../src/secrets/regular-file.ts';

/** What somebody has to correct, and how; all other failures may pass by themselves. */
const CORRECTIONS: Readonly<Record<string, string>> = {
  ENOENT: 'make the folder, or correct `path`',
  ENOTDIR: 'correct `path`: a part of it is no folder',
  EISDIR: 'correct `path`: a folder has the name',
  ENOTEMPTY: 'correct `path`: a folder has the name',
  ELOOP: 'correct the links that `path` leads over',
  ENAMETOOLONG: 'choose a shorter `path`',
  EINVAL: 'correct `path`, or choose a disk that can do this',
  EACCES: 'let this user read and write the file, and its folder',
  EPERM: 'let this user read and write the file, and its folder',
  EROFS: 'choose a disk that may be written to, or mount it for writing',
  EFBIG: 'set `rotate`, or raise the limit on the size of files',
};

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'make room on the disk',
  EDQUOT: 'make room, or raise the quota of this user',
  EMFILE: 'raise the limit on open files',
  ENFILE: 'raise the limit on open files',
};

/** Whatever was thrown over the file at `path`. A BridgeError passes unchanged. */
export function fileFault(cause: unknown, sink: string, path: string): BridgeError {
  if (cause instanceof BridgeError) return cause;
  const status = codeOf(cause);
  const said = `sink ${sink} cannot write to ${path}: ${messageOf(cause)}`;
  const details = { cause, scope: 'sink', ...(status === undefined ? {} : { status }) } as const;
  const correction = cause instanceof UnfitFile ? 'correct `path`' : CORRECTIONS[status ?? ''];
  if (correction !== undefined) {
    return new BridgeError('BRIDGE_FILE_MISCONFIGURED', `${said}; ${correction}`, { ...details, disposition: 'misconfigured' });
  }
  const remedy = REMEDIES[status ?? ''] ?? 'look at the disk and its mount';
  return new BridgeError('BRIDGE_FILE_FAILED', `${said}; ${remedy}`, { ...details, disposition: 'retry' });
}

/** The disk did not answer in time; what it was given may still be written. */
export function tooSlow(sink: string, path: string, timeoutMs: number): BridgeError {
  const message = `sink ${sink}: the disk of ${path} gave no answer within ${timeoutMs} ms; look at the disk and its mount, or raise timeout`;
  return new BridgeError('BRIDGE_FILE_FAILED', message, { disposition: 'retry', scope: 'sink' });
}
