// A compressed batch (gzip, snappy, lz4, zstd) → its bytes, within a limit.
import { promisify } from 'node:util';
import { CompressionCodecs, CompressionTypes } from '../../client/kafkajs.ts';
import { decompressLz4 } from './lz4.ts';
import { hasFewRecords } from './record-count.ts';
import { decompressSnappy } from './snappy.ts';

/**
 * Producers send batches of at most 1 MB before compression, unless they are configured otherwise. A compressed batch
 * of 1 MiB could become 1 GB, and the client takes some 500 bytes of memory for each record.
 */
const MOST_BYTES = 4 * 1024 ** 2;
const MOST_RECORDS = 20_000;

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
        const batch = await decompressBatch(compressed);
        if (!hasFewRecords(batch, MOST_RECORDS)) throw new RangeError('the batch has too many records');
        return batch;
      } catch (cause) {
        throw new UnreadableBatch('a batch of records cannot be decompressed', { cause });
      }
    },
  });
}
