// A header and a message → one syslog message within its limit, cut at a character. Pure.

const ELLIPSIS = Buffer.from('…');

/** The message part ends in `…` where it had to be cut; null where not even that fits behind the header. */
export function boundedMessage(header: Uint8Array, message: Uint8Array, maxBytes: number): Buffer | null {
  if (header.byteLength + message.byteLength <= maxBytes) return Buffer.concat([header, message]);
  const room = maxBytes - header.byteLength - ELLIPSIS.byteLength;
  return room < 0 ? null : Buffer.concat([header, message.subarray(0, characterEnd(message, room)), ELLIPSIS]);
}

/** The last place up to `most` where a character of UTF-8 begins. */
function characterEnd(text: Uint8Array, most: number): number {
  let end = most;
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
