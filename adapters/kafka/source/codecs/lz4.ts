// LZ4 frames → their bytes (lz4_Frame_format.md). Checksums are skipped: Kafka has its own.
import { DecompressionBuffer } from './decompression-buffer.ts';

const MAGIC = 0x184d2204;
const CONTENT_SIZE_FLAG = 0x08;
const DICTIONARY_FLAG = 0x01;
const BLOCK_CHECKSUM_FLAG = 0x10;
const CONTENT_CHECKSUM_FLAG = 0x04;
const UNCOMPRESSED = 0x80000000;
const LEAST_MATCH = 4;

/** Decompresses LZ4 frames. @throws RangeError if the bytes are not valid LZ4, or become more than `mostBytes` */
export function decompressLz4(compressed: Buffer, mostBytes: number): Buffer {
  const output = new DecompressionBuffer(mostBytes);
  for (let at = 0; at < compressed.length; ) at = decompressFrame(compressed, at, output);
  return output.bytes();
}

/** @returns the offset of the next frame */
function decompressFrame(compressed: Buffer, start: number, output: DecompressionBuffer): number {
  if (compressed.readUInt32LE(start) !== MAGIC) throw new RangeError('not an LZ4 frame');
  const flags = compressed.readUInt8(start + 4);
  if ((flags & DICTIONARY_FLAG) !== 0) throw new RangeError('the LZ4 frame needs a dictionary');
  // Magic number, two bytes of flags, the content's size, and a checksum of them.
  let at = start + 7 + (flags & CONTENT_SIZE_FLAG ? 8 : 0);
  const frameStart = output.length;
  for (;;) {
    const size = compressed.readUInt32LE(at);
    at += 4;
    if (size === 0) return at + (flags & CONTENT_CHECKSUM_FLAG ? 4 : 0);
    const bytes = size % UNCOMPRESSED;
    if (at + bytes > compressed.length) throw new RangeError('the LZ4 block ends too early');
    if (size >= UNCOMPRESSED) output.write(compressed, at, bytes);
    else decompressBlock(compressed.subarray(at, at + bytes), output, frameStart);
    at += bytes + (flags & BLOCK_CHECKSUM_FLAG ? 4 : 0);
  }
}

/** Decompresses one block, which may refer to earlier blocks. */
function decompressBlock(block: Buffer, output: DecompressionBuffer, frameStart: number): void {
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
    output.write(block, at, literals);
    at += literals;
    // The last sequence has only literals.
    if (at === block.length) return;
    const distance = block.readUInt16LE(at);
    at += 2;
    output.repeat(distance, LEAST_MATCH + lengthFrom(token & 15), frameStart);
  }
}
