// The folder of a store → its bytes, rows and queues, read beside the bridge.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DATABASE_FILE } from '../../../src/outbox/folder.ts';

export interface StoreSize {
  /** Of the database with its log. */
  readonly bytes: number;
  /** By table. */
  readonly rows: Readonly<Record<string, number>>;
}

export interface Queue {
  readonly queued: number;
  /** Dead letters. */
  readonly dead: number;
}

export function storeSize(folder: string): StoreSize {
  const path = join(folder, DATABASE_FILE);
  const bytes = [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const rows = inDatabase(folder, (database) => {
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all();
    const countOf = (table: unknown) => Number(database.prepare(`SELECT count(*) AS n FROM "${table}"`).get()?.['n']);
    return Object.fromEntries(tables.map(({ name }) => [String(name), countOf(name)]));
  });
  return { bytes, rows };
}

export function queueOf(folder: string, sink: string): Queue {
  return inDatabase(folder, (database) => {
    const count = database.prepare('SELECT count(*) AS n FROM deliveries WHERE sink = ? AND state = ?');
    const rows = (state: string) => Number(count.get(sink, state)?.['n']);
    return { queued: rows('queued'), dead: rows('dead') };
  });
}

function inDatabase<T>(folder: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(folder, DATABASE_FILE), { readOnly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
