// Snappy, bare or in xerial's frames → its bytes (format_description.txt of google/snappy).
import { DecompressionBuffer } from './decompression-buffer.ts';

/** The Java library's format: a magic number, two versions, then blocks with their lengths. */
const XERIAL = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0]);
const XERIAL_HEADER_BYTES = 16;
const LONGEST_VARINT_BYTES = 5;
/** The tag contains the length of literals of up to 60 bytes. */
const SHORT_LITERALS = 60;

/** Decompresses snappy. @throws RangeError if the bytes are not valid snappy, or become more than `mostBytes` */
export function decompressSnappy(compressed: Buffer, mostBytes: number): Buffer {
  const output = new DecompressionBuffer(mostBytes);
  if (!compressed.subarray(0, XERIAL.length).equals(XERIAL)) {
    decompressBlock(compressed, output);
    return output.bytes();
  }
  for (let at = XERIAL_HEADER_BYTES; at < compressed.length; ) {
    const length = compressed.readInt32BE(at);
    if (length < 0 || at + 4 + length > compressed.length) throw new RangeError('the snappy block ends too early');
    decompressBlock(compressed.subarray(at + 4, at + 4 + length), output);
    at += 4 + length;
  }
  return output.bytes();
}

function decompressBlock(block: Buffer, output: DecompressionBuffer): void {
  const start = output.length;
  const [length, headerBytes] = readVarint(block);
  for (let at = headerBytes; at < block.length; ) {
    const tag = block.readUInt8(at);
    at += 1;
    const upper = tag >> 2;
    switch (tag & 3) {
      case 0: {
        const extra = Math.max(0, upper - SHORT_LITERALS + 1);
        const bytes = (extra === 0 ? upper : block.readUIntLE(at, extra)) + 1;
        output.write(block, at + extra, bytes);
        at += extra + bytes;
        break;
      }
      case 1:
        output.repeat(((tag >> 5) << 8) | block.readUInt8(at), 4 + (upper & 7), start);
        at += 1;
        break;
      case 2:
        output.repeat(block.readUInt16LE(at), upper + 1, start);
        at += 2;
        break;
      default:
        output.repeat(block.readUInt32LE(at), upper + 1, start);
        at += 4;
    }
  }
  if (output.length - start !== length)
    throw new RangeError('the length of the snappy block does not match its header');
}

function readVarint(block: Buffer): readonly [value: number, bytes: number] {
  let value = 0;
  for (let index = 0; index < LONGEST_VARINT_BYTES; index += 1) {
    const byte = block.readUInt8(index);
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return [value, index + 1];
  }
  throw new RangeError('the length of the snappy block is not terminated');
}
