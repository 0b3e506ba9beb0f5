// boundedBytes: everything up to the limit, null beyond it, and the source is left alone then.
import assert from 'node:assert/strict';
import test from 'node:test';
import { boundedBytes } from '../../../src/formats/bounded-bytes.ts';

test('chunks of exactly the limit are joined, one byte more is too long', async () => {
  const chunks = [Buffer.from('ab'), Buffer.from('c')];
  assert.equal((await boundedBytes(chunks, 3))?.toString(), 'abc');
  assert.equal(await boundedBytes(chunks, 2), null);
  assert.equal((await boundedBytes([], 0))?.length, 0);
});

test('an endless source is read up to the limit and closed', async () => {
  let [read, isClosed] = [0, false];
  async function* endless() {
    try {
      for (;;) {
        read += 1;
        yield Buffer.alloc(10);
      }
    } finally {
      isClosed = true;
    }
  }
  assert.equal(await boundedBytes(endless(), 95), null);
  assert.deepEqual([read, isClosed], [10, true]);
});
