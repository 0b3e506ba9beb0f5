// Payloads → frames of a WebSocket client, and bytes of a server → its frames (RFC 6455, section 5).

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Whole messages are of no interest: their bytes are one stream. */
export interface ReceivedFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

const OPCODES: ReadonlySet<number> = new Set(Object.values(Opcode));
/** No AMQP frame of ours asks for more. */
const LARGEST_PAYLOAD_BYTES = 16 * 1024 * 1024;

/** A whole message in one frame. `mask` has four bytes. */
export function frame(opcode: number, payload: Uint8Array, mask: Uint8Array): Buffer {
  const size = payload.length;
  const sizeBytes = size < 126 ? 0 : size < 65_536 ? 2 : 8;
  const start = 2 + sizeBytes + mask.length;
  const bytes = Buffer.allocUnsafe(start + size);
  bytes[0] = 0x80 | opcode;
  bytes[1] = 0x80 | (sizeBytes === 0 ? size : sizeBytes === 2 ? 126 : 127);
  if (sizeBytes === 2) bytes.writeUInt16BE(size, 2);
  if (sizeBytes === 8) bytes.writeBigUInt64BE(BigInt(size), 2);
  bytes.set(mask, 2 + sizeBytes);
  for (let index = 0; index < size; index++) bytes[start + index] = (payload[index] as number) ^ (mask[index % 4] as number);
  return bytes;
}

/** The whole frames at the start of `bytes`, and what follows them; null where a server may send no such thing. */
export function takeFrames(bytes: Buffer): { readonly frames: readonly ReceivedFrame[]; readonly rest: Buffer } | null {
  const frames: ReceivedFrame[] = [];
  let at = 0;
  while (bytes.length - at >= 2) {
    const [first, second] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)];
    const opcode = first & 0x0f;
    // No extension was agreed on, and a server masks nothing.
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0 || !OPCODES.has(opcode)) return null;
    const sizeBytes = second < 126 ? 0 : second === 126 ? 2 : 8;
    const start = at + 2 + sizeBytes;
    if (bytes.length < start) break;
    const size = sizeBytes === 0 ? second : sizeBytes === 2 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    if (size > LARGEST_PAYLOAD_BYTES) return null;
    if (bytes.length < start + size) break;
    frames.push({ opcode, payload: bytes.subarray(start, start + size) });
    at = start + size;
  }
  return { frames, rest: bytes.subarray(at) };
}
