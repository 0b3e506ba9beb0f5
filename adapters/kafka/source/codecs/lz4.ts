// LZ4 frames → their bytes (lz4_Frame_format.md). Checksums are skipped: Kafka has its own.
import { Unpacked } from './unpacked.ts';

const MAGIC = 0x184d2204;
const CONTENT_SIZE_FLAG = 0x08;
const DICTIONARY_FLAG = 0x01;
const BLOCK_CHECKSUM_FLAG = 0x10;
const CONTENT_CHECKSUM_FLAG = 0x04;
const NOT_PACKED = 0x80000000;
const LEAST_MATCH = 4;

/** @throws RangeError at what is no LZ4, and beyond `mostBytes` */
export function unpackLz4(packed: Buffer, mostBytes: number): Buffer {
  const unpacked = new Unpacked(mostBytes);
  for (let at = 0; at < packed.length; ) at = unpackFrame(packed, at, unpacked);
  return unpacked.bytes();
}

/** @returns where the next frame begins */
function unpackFrame(packed: Buffer, start: number, unpacked: Unpacked): number {
  if (packed.readUInt32LE(start) !== MAGIC) throw new RangeError('not an LZ4 frame');
  const flags = packed.readUInt8(start + 4);
  if ((flags & DICTIONARY_FLAG) !== 0) throw new RangeError('the LZ4 frame needs a dictionary');
  // Magic number, two bytes of flags, the content's size, and a checksum of these.
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

/** Blocks may refer to the blocks before them. */
function unpackBlock(block: Buffer, unpacked: Unpacked, frameStart: number): void {
  let at = 0;
  /** A length of 15 goes on in bytes, of which all but the last are 255. */
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
    // The last sequence is literals alone.
    if (at === block.length) return;
    const distance = block.readUInt16LE(at);
    at += 2;
    unpacked.repeat(distance, LEAST_MATCH + lengthFrom(token & 15), frameStart);
  }
}
