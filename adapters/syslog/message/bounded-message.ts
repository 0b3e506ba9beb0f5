// A header and a message → one syslog message within its limit, cut at a character. Pure.

const ELLIPSIS = Buffer.from('…');

/** The message part ends in `…` where it had to be cut; null where not even that fits behind the header. */
export function boundedMessage(header: Uint8Array, message: Uint8Array, maxBytes: number): Buffer | null {
  if (header.byteLength + message.byteLength <= maxBytes) return Buffer.concat([header, message]);
  const room = maxBytes - header.byteLength - ELLIPSIS.byteLength;
  return room < 0 ? null : Buffer.concat([header, message.subarray(0, characterEnd(message, room)), ELLIPSIS]);
}

const BACKSLASH = 0x5c;

/** The last place up to `most` at which a character of UTF-8 begins, and which is not inside an escape of CEF. */
function characterEnd(text: Uint8Array, most: number): number {
  let end = most;
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end--;
  let backslashes = 0;
  while (text[end - 1 - backslashes] === BACKSLASH) backslashes++;
  return end - (backslashes % 2);
}
