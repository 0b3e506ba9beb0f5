// A compressed batch (gzip, snappy, lz4, zstd) → its bytes, within a limit.
import { promisify } from 'node:util';
import { CompressionCodecs, CompressionTypes } from '../../client/kafkajs.ts';
import { decompressLz4 } from './lz4.ts';
import { decompressSnappy } from './snappy.ts';

/**
 * By default brokers accept batches of 1 MiB, compressed. A batch of approvals never exceeds this limit when
 * decompressed.
 */
const MOST_BYTES = 64 * 1024 ** 2;

/** No record after such a batch can be read. */
class UnreadableBatch extends Error {
  override readonly name = 'UnreadableBatch';
}

type Decompress = (compressed: Buffer) => Buffer | Promise<Buffer>;

const { gunzip, zstdDecompress } = process.getBuiltinModule('node:zlib');
const limit = { maxOutputLength: MOST_BYTES };

const decompressors: Readonly<Record<number, Decompress>> = {
  [CompressionTypes.GZIP]: (compressed) => promisify(gunzip)(compressed, limit),
  [CompressionTypes.Snappy]: (compressed) => decompressSnappy(compressed, MOST_BYTES),
  [CompressionTypes.LZ4]: (compressed) => decompressLz4(compressed, MOST_BYTES),
  [CompressionTypes.ZSTD]: (compressed) => promisify(zstdDecompress)(compressed, limit),
};

/** A codec of kafkajs, which has the type `any` there. */
interface Codec {
  compress(encoder: unknown): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}

// Once for the process: all clients of kafkajs share the codecs. Compression is unchanged.
const codecs = CompressionCodecs as Record<number, () => Codec>;
for (const [type, decompressBatch] of Object.entries(decompressors)) {
  const before = codecs[Number(type)];
  if (before === undefined) throw new TypeError(`kafkajs does not support compression ${type}`);
  codecs[Number(type)] = () => ({
    compress: (encoder) => before().compress(encoder),
    decompress: async (compressed) => {
      try {
        return await decompressBatch(compressed);
      } catch (cause) {
        throw new UnreadableBatch('a batch of records cannot be decompressed', { cause });
      }
    },
  });
}
