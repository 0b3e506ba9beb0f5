// An unpacked batch → whether it has few records, in each of Kafka's formats. Pure.

/** Before the message of versions 0 and 1: its offset, and its size. */
const OFFSET_BYTES = 8;
const LONGEST_VARINT_BYTES = 5;

/**
 * Returns whether a batch has at most so many records. Stops at a record that is not valid, because the client reads no
 * further either.
 */
export function hasFewRecords(batch: Buffer, mostRecords: number): boolean {
  // No record of version 2 is empty, and no offset of a message set begins with another byte.
  const next = batch[0] === 0 ? endOfMessage : endOfRecord;
  let count = 0;
  for (let at: number | null = 0; at !== null && at < batch.length; at = next(batch, at)) {
    count += 1;
    if (count > mostRecords) return false;
  }
  return true;
}

function endOfMessage(batch: Buffer, at: number): number | null {
  const start = at + OFFSET_BYTES + 4;
  if (start > batch.length) return null;
  const size = batch.readInt32BE(at + OFFSET_BYTES);
  return size > 0 ? start + size : null;
}

/** The length of a record is a varint in zigzag. */
function endOfRecord(batch: Buffer, at: number): number | null {
  let value = 0;
  for (let index = 0; index < LONGEST_VARINT_BYTES; index += 1) {
    const byte = batch[at + index];
    if (byte === undefined) return null;
    value += (byte & 0x7f) * 2 ** (7 * index);
    // An odd number is a negative length.
    if (byte < 0x80) return value > 0 && value % 2 === 0 ? at + index + 1 + value / 2 : null;
  }
  return null;
}
