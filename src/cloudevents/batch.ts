// Structured-mode bytes of several CloudEvents → one JSON batch and its id (JSON format 1.0.2).
import { sha256Hex } from '../formats/canonical-json.ts';

/** The media type of `encodeBatch`'s bytes. */
export const BATCH_CONTENT_TYPE = 'application/cloudevents-batch+json';

const [OPEN, COMMA, CLOSE] = [0x5b, 0x2c, 0x5d];

/** Returns a JSON array of the members, with their bytes unchanged. */
export function encodeBatch(members: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(
    members.reduce((sum, { byteLength }) => sum + byteLength, 0) + framingBytes(members.length),
  );
  bytes[0] = OPEN;
  let at = 1;
  for (const member of members) {
    if (at > 1) bytes[at++] = COMMA;
    bytes.set(member, at);
    at += member.byteLength;
  }
  bytes[at] = CLOSE;
  return bytes;
}

/** Returns the bytes of the brackets and of the commas between so many members. */
export function framingBytes(members: number): number {
  return 2 + Math.max(members - 1, 0);
}

/**
 * Returns `batch:` and 32 hex digits of the SHA-256 of the ids in their order, joined by line feeds. Other members give
 * another id.
 */
export function batchId(ids: readonly string[]): string {
  return `batch:${sha256Hex(ids.join('\n'), 32)}`;
}
