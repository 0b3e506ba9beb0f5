// Requests that the service rejects → the tests' endpoint rejects them too.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { DataCollectionEndpoint, MAX_BYTES, RULE, STREAM } from './data-collection-endpoint.ts';

const PATH = `/dataCollectionRules/${RULE}/streams/${STREAM}?api-version=2023-01-01`;
const HEADERS = { authorization: 'Bearer token', 'content-type': 'application/json' };
const GZIP = { ...HEADERS, 'content-encoding': 'gzip' };

interface Call {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly method?: string;
}

async function started(t: TestContext) {
  const endpoint = await DataCollectionEndpoint.start();
  t.after(() => endpoint[Symbol.asyncDispose]());
  const call = async ({ path = PATH, headers = HEADERS, body = '[{}]', method = 'POST' }: Call) =>
    (await fetch(`${endpoint.url}${path}`, { method, headers, body })).status;
  return { endpoint, call };
}

/** A body of exactly the maximum size. */
const full = `[{"${'x'.repeat(MAX_BYTES - 8)}":1}]`;
const WRONG: readonly (readonly [what: string, call: Call, status: number])[] = [
  ['no token', { headers: { 'content-type': 'application/json' } }, 401],
  ['a path without a stream', { path: `/dataCollectionRules/${RULE}?api-version=2023-01-01` }, 404],
  ['another rule', { path: PATH.replace(RULE, 'dcr-0') }, 404],
  ['another stream', { path: PATH.replace(STREAM, 'Custom-Other') }, 400],
  ['another version', { path: PATH.replace('2023', '2021') }, 400],
  ['no version', { path: PATH.replace(/\?.*/, '') }, 400],
  ['another method', { method: 'PUT' }, 404],
  ['another type of body', { headers: { ...HEADERS, 'content-type': 'text/plain' } }, 415],
  ['another packing', { headers: { ...HEADERS, 'content-encoding': 'br' } }, 415],
  ['what is not packed', { headers: GZIP }, 400],
  ['an object', { body: '{}' }, 400],
  ['an array of texts', { body: '["x"]' }, 400],
  ['no JSON', { body: '[{}' }, 400],
  ['more than 1 MiB', { body: `${full} ` }, 413],
  ['a bomb', { headers: GZIP, body: gzipSync(Buffer.alloc(64 * MAX_BYTES)) }, 413],
];

for (const [what, call, status] of WRONG)
  test(`the endpoint answers ${status} to ${what}`, async (t) => {
    const { endpoint, call: send } = await started(t);
    assert.equal(await send(call), status);
    assert.deepEqual(endpoint.rows, []);
  });

test('the endpoint accepts a body of exactly the maximum size, compressed or not', async (t) => {
  const { endpoint, call } = await started(t);
  assert.equal(Buffer.byteLength(full), MAX_BYTES);
  assert.equal(await call({ body: full }), 204);
  assert.equal(await call({ headers: GZIP, body: gzipSync(full) }), 204);
  assert.deepEqual(endpoint.sizes, [MAX_BYTES, MAX_BYTES]);
});
