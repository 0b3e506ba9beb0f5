// Compressed batches, small ones that become large → their bytes, or an end in little memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CompressionCodecs, CompressionTypes } from '../../../../../../adapters/kafka/client/kafkajs.ts';
import '../../../../../../adapters/kafka/source/codecs/decompression.ts';

const codecs = CompressionCodecs as unknown as Record<number, () => { decompress(bytes: Buffer): Promise<Buffer> }>;
const unpack = async (bytes: Buffer) => codecs[CompressionTypes.GZIP]?.().decompress(await promisify(gzip)(bytes));

/** As in a batch of version 2: a length as a zigzag varint, below 64, and so many bytes. */
const record = (bytes: number) => Buffer.concat([Buffer.from([2 * bytes]), Buffer.alloc(bytes, 1)]);
/** As in a message set of versions 0 and 1: offset, size, message. */
const message = (bytes: number) => Buffer.concat([Buffer.alloc(8), Buffer.from([0, 0, 0, bytes]), Buffer.alloc(bytes)]);
const many = (part: Buffer, count: number) => Buffer.concat(Array<Buffer>(count).fill(part));

test('20,000 records are unpacked, in both formats', async () => {
  for (const bytes of [many(record(60), 20_000), many(message(60), 20_000)])
    assert.ok((await unpack(bytes))?.equals(bytes));
});

test('more records, or more than 4 MiB, are refused: each would take many times its bytes', async () => {
  for (const bytes of [many(record(7), 20_001), many(message(26), 20_001), Buffer.alloc(4 * 1024 ** 2 + 1, 3)])
    await assert.rejects(unpack(bytes), { name: 'UnreadableBatch' });
});

test('broken records are left to the client, which reads them', async () => {
  for (const bytes of [
    Buffer.from([0xff, 0xff, 0xff]),
    Buffer.alloc(5),
    record(60).subarray(0, 20),
    Buffer.from([1, 1, 1]),
  ])
    assert.ok((await unpack(bytes))?.equals(bytes));
});
