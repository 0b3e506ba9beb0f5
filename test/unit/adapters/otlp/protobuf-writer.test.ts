// Fields → the bytes in protobuf's encoding guide.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { readFields } from '../../../../adapters/otlp/protobuf-reader.ts';
import { ProtobufWriter } from '../../../../adapters/otlp/protobuf-writer.ts';

function written(write: (writer: ProtobufWriter) => void): string {
  const writer = new ProtobufWriter();
  write(writer);
  return Buffer.from(writer.finish()).toString('hex');
}

test('the samples of the encoding guide are written byte for byte', () => {
  assert.equal(
    written((writer) => writer.varint(1, 150)),
    '089601',
  );
  assert.equal(
    written((writer) => writer.text(2, 'testing')),
    '120774657374696e67',
  );
  assert.equal(
    written((writer) => writer.message(3, () => writer.varint(1, 150))),
    '1a03089601',
  );
  assert.equal(
    written((writer) => writer.varint(1, -2)),
    '08feffffffffffffffff01',
  );
  assert.equal(
    written((writer) => writer.fixed64(1, 1n)),
    '090100000000000000',
  );
  assert.equal(
    written((writer) => writer.double(4, 1.5)),
    '21000000000000f83f',
  );
  assert.equal(
    written((writer) => writer.bytes(16, Buffer.from([1, 2]))),
    '8201020102',
  );
});

test('every safe integer can be read back', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      const read = readFields(
        Buffer.from(
          written((writer) => writer.varint(2, value)),
          'hex',
        ),
        [2],
      )?.get(2);
      assert.equal(typeof read === 'bigint' && BigInt.asIntN(64, read), BigInt(value));
    }),
  );
});

test('messages of any length and depth contain what was written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 70_000 }), fc.integer({ min: 0, max: 6 }), (length, depth) => {
      const writer = new ProtobufWriter();
      const nest = (level: number): void =>
        level === 0 ? writer.text(1, 'x'.repeat(length)) : writer.message(1, () => nest(level - 1));
      nest(depth);
      let bytes: Uint8Array | bigint | undefined = writer.finish();
      for (let level = 0; level <= depth; level++) bytes = readFields(bytes as Uint8Array, [1])?.get(1);
      assert.equal((bytes as Uint8Array).length, length);
    }),
    { numRuns: 60 },
  );
});

test('a lone surrogate, which UTF-8 cannot encode, becomes U+FFFD', () => {
  assert.equal(
    written((writer) => writer.text(1, '\ud800')),
    '0a03efbfbd',
  );
});
