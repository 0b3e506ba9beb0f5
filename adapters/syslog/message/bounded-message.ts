// A header and a message → one syslog message within a limit, cut between characters. Pure.

const ELLIPSIS = Buffer.from('…');

/** Joins header and message. Cuts a message that is too long, and ends it in `…`. Returns null if not even the `…` fits. */
export function boundedMessage(header: Uint8Array, message: Uint8Array, maxBytes: number): Buffer | null {
  if (header.byteLength + message.byteLength <= maxBytes) return Buffer.concat([header, message]);
  const room = maxBytes - header.byteLength - ELLIPSIS.byteLength;
  return room < 0 ? null : Buffer.concat([header, message.subarray(0, characterEnd(message, room)), ELLIPSIS]);
}

const BACKSLASH = 0x5c;

/** Returns the last offset up to `max` that is the start of a UTF-8 character and not inside an escape of CEF. */
function characterEnd(text: Uint8Array, max: number): number {
  let end = max;
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end--;
  let backslashes = 0;
  while (text[end - 1 - backslashes] === BACKSLASH) backslashes++;
  return end - (backslashes % 2);
}
