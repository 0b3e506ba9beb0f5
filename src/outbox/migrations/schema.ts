// The tables, version by version → a database of the newest version.
import { BridgeError } from '../../errors.ts';
import type { Database } from '../database.ts';
import { VERSION_1 } from './version-1.ts';
import { VERSION_2 } from './version-2.ts';
import { VERSION_3 } from './version-3.ts';
import { VERSION_4 } from './version-4.ts';
import { VERSION_5 } from './version-5.ts';
import { VERSION_6 } from './version-6.ts';
import { VERSION_7 } from './version-7.ts';
import { VERSION_8 } from './version-8.ts';

/** The n-th step migrates from version n-1 to version n. A released step never changes. */
export const MIGRATIONS: readonly string[] = [VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6, VERSION_7, VERSION_8];

/**
 * Migrates the database to the newest version, with one transaction for each step. `user_version` has the version.
 * @throws BridgeError BRIDGE_STORE_NEWER if a later release wrote it
 */
export function migrate(database: Database, migrations = MIGRATIONS): void {
  const current = database.prepare<{ user_version: number }>('PRAGMA user_version');
  const version = (): number => current.get()?.user_version ?? 0;
  while (version() !== migrations.length) {
    database.transaction(() => {
      // Read again: another process may have run the same step.
      const from = version();
      const step = migrations[from];
      if (from > migrations.length) throw newer(database.file, from, migrations.length);
      if (step === undefined) return;
      database.exec(step);
      database.exec(`PRAGMA user_version = ${from + 1}`);
    });
  }
}

function newer(file: string, version: number, newest: number): BridgeError {
  return new BridgeError(
    'BRIDGE_STORE_NEWER',
    `the store ${file} was written by a later release (its schema is version ${version}, this release supports up to ${newest}). Run that release, or set store.path to another folder`,
  );
}
