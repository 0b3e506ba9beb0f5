// Rows with the sizes of what they hold → how many of them may be read at once. Pure.

/** A row and the bytes that reading it would take. SQLite tells the length of a value without reading it. */
export interface SizedRow {
  readonly seq: number;
  readonly size: number;
}

/** How many of the first rows have at most `maxBytes` together; the first one counts, whatever its size. */
export function countWithin(rows: readonly Pick<SizedRow, 'size'>[], maxBytes: number): number {
  let left = maxBytes;
  const beyond = rows.findIndex(({ size }) => {
    left -= size;
    return left < 0;
  });
  return beyond === -1 ? rows.length : Math.max(1, beyond);
}
