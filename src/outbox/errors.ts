// Errors of SQLite and the file system → BridgeErrors that name the file and what to do.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { BridgeError, codeOf, messageOf } from '../errors.ts';

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const SQLITE = { BUSY: 5, LOCKED: 6, CORRUPT: 11, FULL: 13, CONSTRAINT: 19, NOTADB: 26 } as const;
/** The index of the write-ahead log could not grow: in practice, the disk is full. */
const SQLITE_IOERR_SHMSIZE = 4874;

interface SqliteError extends Error {
  readonly code: 'ERR_SQLITE_ERROR';
  /** Extended result code. */
  readonly errcode: number;
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

/** Returns whether another connection holds the lock. Accepts an SQLite error or a BridgeError that wraps one. */
export function isBusy(error: unknown): boolean {
  if (error instanceof BridgeError) return isBusy(error.cause);
  return isSqliteError(error) && [SQLITE.BUSY, SQLITE.LOCKED].some((code) => code === (error.errcode & 0xff));
}

/**
 * Wraps an error of SQLite or the file system in a BridgeError BRIDGE_STORE_* or BRIDGE_INTERNAL about `file`. Returns
 * other errors unchanged.
 */
export function storeError(error: unknown, file: string): unknown {
  if (isSqliteError(error)) return fromSqlite(error, file);
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ERR_INVALID_STATE')
    return new BridgeError('BRIDGE_INTERNAL', `the store ${file} was used after it was closed`, { cause: error });
  if (!('syscall' in error)) return error;
  return error.code === 'ENOSPC' || error.code === 'EDQUOT' ? diskFull(file, error) : failed(file, error);
}

function fromSqlite(error: SqliteError, file: string): BridgeError {
  if (error.errcode === SQLITE_IOERR_SHMSIZE) return diskFull(file, error);
  switch (error.errcode & 0xff) {
    case SQLITE.FULL:
      return hasFreeSpace(file)
        ? full(`the disk of the store ${file} is full, or store.maxSize is reached`, error)
        : diskFull(file, error);
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      return damaged(file, messageOf(error), error);
    case SQLITE.BUSY:
    case SQLITE.LOCKED:
      return new BridgeError(
        'BRIDGE_STORE_FAILED',
        `another process keeps the store ${file} locked; stop it, or wait until it has finished`,
        { cause: error },
      );
    case SQLITE.CONSTRAINT:
      return new BridgeError('BRIDGE_INTERNAL', `the store ${file} rejected a row: ${messageOf(error)}`, {
        cause: error,
      });
    default:
      return failed(file, error);
  }
}

/** The error for a damaged file, which the bridge never repairs or replaces. */
export function damaged(file: string, how: string, cause?: Error): BridgeError {
  return new BridgeError(
    'BRIDGE_STORE_DAMAGED',
    `the store file ${file} is damaged (${how}). Stop the bridge and put back a copy of its folder, or move the folder away to start with an empty store; the bridge then does not deliver the CloudEvents queued in it`,
    { cause },
  );
}

/** Commands that open the store of a running bridge get these errors too. */
const CONTINUES = '; a running bridge then continues by itself';

/** Returns the error of a store that is full at the start of a bridge, which then ends. Returns others unchanged. */
export function startFault(error: unknown): unknown {
  if (!(error instanceof BridgeError) || error.code !== 'BRIDGE_STORE_FULL') return error;
  const message = `the bridge cannot start: ${error.message.replace(CONTINUES, ', then start the bridge again')}`;
  return new BridgeError(error.code, message, { cause: error.cause });
}

/** The error for a store that has reached `store.maxSize`; it has the same code as a full disk. */
export function tooLarge(file: string, maxBytes: number): BridgeError {
  return new BridgeError(
    'BRIDGE_STORE_FULL',
    `the store ${file} is full: it has reached store.maxSize (${maxBytes} bytes), and nothing was stored. Repair the sinks that reject their deliveries, discard dead letters, or raise store.maxSize${CONTINUES}`,
  );
}

/** SQLite reports a full disk and its own limit in the same way. Some space may be left that it cannot use. */
function hasFreeSpace(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize >= 1024 * 1024;
  } catch {
    return true;
  }
}

function diskFull(file: string, cause: Error): BridgeError {
  return full(`the disk of the store ${file} is full`, cause);
}

function full(what: string, cause: Error): BridgeError {
  return new BridgeError('BRIDGE_STORE_FULL', `${what}; nothing was stored. Free some space${CONTINUES}`, { cause });
}

function failed(file: string, cause: Error): BridgeError {
  const code = codeOf(cause);
  if (code === 'EACCES' || code === 'EPERM') {
    const message = `this user may not open or write the store ${file} (${code}): grant the right, run this as the bridge's user, or set store.path to another folder`;
    return new BridgeError('BRIDGE_STORE_FAILED', message, { cause });
  }
  return new BridgeError(
    'BRIDGE_STORE_FAILED',
    `the store ${file} cannot be read or written (${messageOf(cause)}). Check its disk, owner and permissions`,
    { cause },
  );
}
