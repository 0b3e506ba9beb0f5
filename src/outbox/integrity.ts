// A database → an error if its structure is damaged, or rows differ from what the bridge wrote.
import { crc32 } from 'node:zlib';
import type { Database } from './database.ts';
import { damaged } from './errors.ts';

/** A few rows at a time, because one can have a megabyte. */
const ROWS = 16;

const SQL = {
  check: 'PRAGMA integrity_check(1)',
  journal:
    'SELECT seq, id, change, partition_key AS partitionKey, bytes, sum FROM journal WHERE seq > ? ORDER BY seq LIMIT ?',
} as const;

/** What the sum of a journal row covers. */
export interface SummedEntry {
  readonly id: string;
  readonly change: string;
  readonly partitionKey: string;
  readonly bytes: Uint8Array;
  /** Null in rows that an earlier release wrote. */
  readonly sum: number | null;
}

/** Returns the CRC-32 of these values. SQLite has sums for its log, but none for the pages of the file. */
export function sumOf(...values: readonly (string | number | null | Uint8Array)[]): number {
  return values.reduce<number>((sum, value) => crc32(value instanceof Uint8Array ? value : `${value}\0`, sum), 0);
}

export function sumOfEntry({ id, change, partitionKey, bytes }: Omit<SummedEntry, 'sum'>): number {
  return sumOf(id, change, partitionKey, bytes);
}

/** @throws BridgeError BRIDGE_STORE_DAMAGED if the row is not what the bridge wrote */
export function expectSum(database: Pick<Database, 'file'>, what: string, stored: number | null, sum: number): void {
  if (stored !== null && stored !== sum) throw damaged(database.file, `${what} has changed since it was written`);
}

/** @throws BridgeError BRIDGE_STORE_DAMAGED */
export function expectEntry(database: Pick<Database, 'file'>, entry: SummedEntry): void {
  expectSum(database, `the CloudEvent ${entry.id}`, entry.sum, sumOfEntry(entry));
}

/**
 * Reads the whole database, about a second for each gigabyte: its structure, its indexes and all CloudEvents. A start
 * does so before anything is sent.
 * @throws BridgeError BRIDGE_STORE_DAMAGED or _FAILED
 */
export function checkIntegrity(database: Database): void {
  const [row] = database.prepare<{ integrity_check: string }>(SQL.check).all();
  if (row?.integrity_check !== 'ok') throw damaged(database.file, row?.integrity_check ?? 'it cannot be checked');
  const journal = database.prepare<SummedEntry & { readonly seq: number }>(SQL.journal);
  for (let after = 0, rows = journal.all(after, ROWS); rows.length > 0; rows = journal.all(after, ROWS)) {
    for (const entry of rows) expectEntry(database, entry);
    after = rows.at(-1)?.seq ?? after;
  }
}
