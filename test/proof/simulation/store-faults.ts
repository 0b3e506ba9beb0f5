// Commits of the stores in this process → seen, failed as on a full disk, or cut off by a kill.
import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** Stands around each commit of one store. */
export interface CommitGuard {
  /** Before the commit. @throws in its place, so that it does not happen */
  before(): void;
  after(): void;
}

const guards = new Map<string, CommitGuard>();
let isInstalled = false;

/** The error of SQLite on a full disk. */
export function diskFull(): Error {
  return Object.assign(new Error('database or disk is full'), {
    code: 'ERR_SQLITE_ERROR',
    errcode: 13,
    errstr: 'database or disk is full',
  });
}

/**
 * Guards the commits of the database in this file. A bridge prepares COMMIT once for each store, so every other
 * statement costs nothing more.
 */
export function guardCommits(file: string, guard: CommitGuard): void {
  install();
  guards.set(file, guard);
}

export function unguardCommits(file: string): void {
  guards.delete(file);
}

/** Whether a row of the store waits for its delivery. */
export function hasQueuedRows(file: string): boolean {
  using database = new DatabaseSync(file, { readOnly: true });
  return database.prepare("SELECT 1 FROM deliveries WHERE state = 'queued' LIMIT 1").get() !== undefined;
}

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const prepare = DatabaseSync.prototype.prepare;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    const statement = prepare.call(this, sql);
    const guard = sql === 'COMMIT' ? guards.get(this.location() ?? '') : undefined;
    if (guard !== undefined) guarded(statement, guard);
    return statement;
  };
}

function guarded(statement: StatementSync, guard: CommitGuard): void {
  const run = statement.run.bind(statement);
  statement.run = () => {
    guard.before();
    const result = run();
    guard.after();
    return result;
  };
}
