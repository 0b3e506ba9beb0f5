// The folder of a store → its bytes, rows and queues, read beside the bridge.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DATABASE_FILE } from '../../../src/outbox/folder.ts';

export interface StoreSize {
  /** Of the database with its log. */
  readonly bytes: number;
  /** Of the pages of the database, also of those that are still in its log. */
  readonly pageBytes: number;
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
  return inDatabase(folder, (database) => {
    const value = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all();
    const rows = tables.map(({ name }) => [String(name), value(`SELECT count(*) FROM "${name}"`)]);
    return { bytes, pageBytes: value('PRAGMA page_count') * value('PRAGMA page_size'), rows: Object.fromEntries(rows) };
  });
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
