// A compressed batch (gzip, snappy, lz4, zstd) → its bytes, within a limit.
import { promisify } from 'node:util';
import { CompressionCodecs, CompressionTypes } from '../../client/kafkajs.ts';
import { unpackLz4 } from './lz4.ts';
import { unpackSnappy } from './snappy.ts';

/** By default brokers accept batches of 1 MiB, compressed. A batch of approvals never exceeds this limit when decompressed. */
const MOST_BYTES = 64 * 1024 ** 2;

/** No record after such a batch can be read. */
class UnreadableBatch extends Error {
  override readonly name = 'UnreadableBatch';
}

type Unpack = (packed: Buffer) => Buffer | Promise<Buffer>;

const { gunzip, zstdDecompress } = process.getBuiltinModule('node:zlib');
const limit = { maxOutputLength: MOST_BYTES };

const unpackers: Readonly<Record<number, Unpack>> = {
  [CompressionTypes.GZIP]: (packed) => promisify(gunzip)(packed, limit),
  [CompressionTypes.Snappy]: (packed) => unpackSnappy(packed, MOST_BYTES),
  [CompressionTypes.LZ4]: (packed) => unpackLz4(packed, MOST_BYTES),
  [CompressionTypes.ZSTD]: (packed) => promisify(zstdDecompress)(packed, limit),
};

/** A codec of kafkajs, which has the type `any` there. */
interface Codec {
  compress(encoder: unknown): Promise<Buffer>;
  decompress(packed: Buffer): Promise<Buffer>;
}

// Once for the process: all clients of kafkajs share the codecs. Compression is unchanged.
const codecs = CompressionCodecs as Record<number, () => Codec>;
for (const [type, unpack] of Object.entries(unpackers)) {
  const before = codecs[Number(type)];
  if (before === undefined) throw new TypeError(`kafkajs does not support compression ${type}`);
  codecs[Number(type)] = () => ({
    compress: (encoder) => before().compress(encoder),
    decompress: async (packed) => {
      try {
        return await unpack(packed);
      } catch (cause) {
        throw new UnreadableBatch('a batch of records cannot be decompressed', { cause });
      }
    },
  });
}
