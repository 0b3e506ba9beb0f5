// An error of the file system → a BridgeError that says what to do and whether a retry may help.
import { BridgeError, codeOf, messageOf } from '../../src/errors.ts';
import { UnfitFile } from '../../src/secrets/regular-file.ts';

/** How to correct faults that need an operator. All other failures may be temporary. */
const CORRECTIONS: Readonly<Record<string, string>> = {
  ENOENT: 'create the folder, or correct `path`',
  ENOTDIR: 'correct `path`: a part of it is not a folder',
  EISDIR: 'correct `path`: a folder has this name',
  ENOTEMPTY: 'correct `path`: a folder has this name',
  ELOOP: 'correct the links in `path`',
  ENAMETOOLONG: 'choose a shorter `path`',
  EINVAL: 'correct `path`, or choose a disk that supports this',
  EACCES: 'let this user read and write the file, and its folder',
  EPERM: 'let this user read and write the file, and its folder',
  EROFS: 'choose a writable disk, or mount it for writing',
  EFBIG: 'set `rotate`, or raise the limit on the size of files',
};

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'make room on the disk',
  EDQUOT: 'make room, or raise the quota of this user',
  EMFILE: 'raise the limit on open files',
  ENFILE: 'raise the limit on open files',
};

/** Returns the error of an operation on the file at `path`. A BridgeError is returned unchanged. */
export function fileFault(cause: unknown, sink: string, path: string): BridgeError {
  if (cause instanceof BridgeError) return cause;
  const status = codeOf(cause);
  const said = `sink ${sink} cannot write to ${path}: ${messageOf(cause)}`;
  const details = { cause, scope: 'sink', status } as const;
  const correction = cause instanceof UnfitFile ? 'correct `path`' : CORRECTIONS[status ?? ''];
  if (correction !== undefined) {
    return new BridgeError('BRIDGE_FILE_MISCONFIGURED', `${said}; ${correction}`, {
      ...details,
      disposition: 'misconfigured',
    });
  }
  const remedy = REMEDIES[status ?? ''] ?? 'check the disk and its mount';
  return new BridgeError('BRIDGE_FILE_FAILED', `${said}; ${remedy}`, { ...details, disposition: 'retry' });
}

/** Returns the error of a disk that did not answer in time. It may still write the lines. */
export function tooSlow(sink: string, path: string, timeoutMs: number): BridgeError {
  const message = `sink ${sink}: the disk of ${path} did not answer within ${timeoutMs} ms; check the disk and its mount, or raise timeout`;
  return new BridgeError('BRIDGE_FILE_FAILED', message, { disposition: 'retry', scope: 'sink' });
}
