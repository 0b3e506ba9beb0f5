// LZ4 frames → their bytes (lz4_Frame_format.md). Checksums are skipped: Kafka has its own.
import { Unpacked } from './unpacked.ts';

const MAGIC = 0x184d2204;
const CONTENT_SIZE_FLAG = 0x08;
const DICTIONARY_FLAG = 0x01;
const BLOCK_CHECKSUM_FLAG = 0x10;
const CONTENT_CHECKSUM_FLAG = 0x04;
const NOT_PACKED = 0x80000000;
const LEAST_MATCH = 4;

/** Decompresses LZ4 frames. @throws RangeError if the bytes are not valid LZ4, or become more than `mostBytes` */
export function unpackLz4(packed: Buffer, mostBytes: number): Buffer {
  const unpacked = new Unpacked(mostBytes);
  for (let at = 0; at < packed.length; ) at = unpackFrame(packed, at, unpacked);
  return unpacked.bytes();
}

/** @returns the offset of the next frame */
function unpackFrame(packed: Buffer, start: number, unpacked: Unpacked): number {
  if (packed.readUInt32LE(start) !== MAGIC) throw new RangeError('not an LZ4 frame');
  const flags = packed.readUInt8(start + 4);
  if ((flags & DICTIONARY_FLAG) !== 0) throw new RangeError('the LZ4 frame needs a dictionary');
  // Magic number, two bytes of flags, the content's size, and a checksum of them.
  let at = start + 7 + (flags & CONTENT_SIZE_FLAG ? 8 : 0);
  const frameStart = unpacked.length;
  for (;;) {
    const size = packed.readUInt32LE(at);
    at += 4;
    if (size === 0) return at + (flags & CONTENT_CHECKSUM_FLAG ? 4 : 0);
    const bytes = size % NOT_PACKED;
    if (at + bytes > packed.length) throw new RangeError('the LZ4 block ends too early');
    if (size >= NOT_PACKED) unpacked.write(packed, at, bytes);
    else unpackBlock(packed.subarray(at, at + bytes), unpacked, frameStart);
    at += bytes + (flags & BLOCK_CHECKSUM_FLAG ? 4 : 0);
  }
}

/** Decompresses one block, which may refer to earlier blocks. */
function unpackBlock(block: Buffer, unpacked: Unpacked, frameStart: number): void {
  let at = 0;
  /** Reads a length. A nibble of 15 is followed by bytes, all 255 except the last. */
  const lengthFrom = (nibble: number): number => {
    let length = nibble;
    if (nibble < 15) return length;
    for (;;) {
      const byte = block.readUInt8(at);
      at += 1;
      length += byte;
      if (byte < 255) return length;
    }
  };
  while (at < block.length) {
    const token = block.readUInt8(at);
    at += 1;
    const literals = lengthFrom(token >> 4);
    unpacked.write(block, at, literals);
    at += literals;
    // The last sequence has only literals.
    if (at === block.length) return;
    const distance = block.readUInt16LE(at);
    at += 2;
    unpacked.repeat(distance, LEAST_MATCH + lengthFrom(token & 15), frameStart);
  }
}
