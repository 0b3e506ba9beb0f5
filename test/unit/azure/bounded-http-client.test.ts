// Answers without an end, too long or packed → what the client of Azure reads of them.
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline';
import { boundedHttpClient } from '../../../src/azure/bounded-http-client.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const LONGEST = 64 * 1024;

async function serve(t: TestContext, listener: RequestListener) {
  let open = 0;
  const server = createServer(listener).on('connection', (socket) => {
    open += 1;
    socket
      .on('error', () => {})
      .once('close', () => {
        open -= 1;
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const time = new VirtualTime();
  const client = boundedHttpClient(time);
  const ask = (abortSignal?: AbortSignal) =>
    client.sendRequest(
      createPipelineRequest({
        ...{ url, allowInsecureConnection: true },
        headers: createHttpHeaders({ 'accept-encoding': 'gzip,deflate' }),
        ...(abortSignal && { abortSignal }),
      }),
    );
  return { ask, time, open: () => open };
}

/** Writes until the connection is closed. */
const endless =
  (status: number): RequestListener =>
  (_, response) => {
    let sent = 0;
    const more = () => {
      // A reader without a limit would take all of it.
      while (sent < 64 * LONGEST) {
        sent += LONGEST;
        if (!response.write(Buffer.alloc(LONGEST, '['))) return;
      }
      response.end();
    };
    response.on('error', () => {}).on('drain', more);
    response.writeHead(status);
    more();
  };

test('an answer of 64 KiB is read whole, with status and headers', async (t) => {
  const { ask } = await serve(t, (_, response) => {
    response.writeHead(418, { 'x-any': 'header' });
    response.end('x'.repeat(LONGEST));
  });
  const { status, headers, bodyAsText, readableStreamBody } = await ask();
  assert.deepEqual([status, headers.get('x-any'), readableStreamBody], [418, 'header', undefined]);
  assert.equal(bodyAsText, 'x'.repeat(LONGEST));
});

test('characters that several pieces share are kept', async (t) => {
  const { ask } = await serve(t, (_, response) => {
    const bytes = Buffer.from('{"ü":"€"}');
    response.write(bytes.subarray(0, 3));
    setImmediate(() => response.end(bytes.subarray(3)));
  });
  assert.equal((await ask()).bodyAsText, '{"ü":"€"}');
});

for (const status of [200, 400, 500])
  test(`an endless answer with status ${status} is an error, and its connection is closed`, async (t) => {
    const { ask, open } = await serve(t, endless(status));
    await assert.rejects(ask(), /more than 64 KiB/);
    await poll(() => open() === 0, 'the end of the connection');
  });

test('a short part of an answer that unpacks to more than 64 KiB is an error, and its connection is closed', async (t) => {
  const { ask, open } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.write(gzipSync(Buffer.alloc(64 * LONGEST)));
  });
  await assert.rejects(ask(), /more than 64 KiB/);
  await poll(() => open() === 0, 'the end of the connection');
});

for (const [what, listener] of [
  ['without an answer', () => {}],
  [
    'whose answer never ends',
    (_, response) => {
      response.writeHead(200);
      response.write('{');
    },
  ],
] satisfies readonly (readonly [string, RequestListener])[])
  test(`a request ${what} is ended after 30 s, or when its caller aborts it, with its connection`, async (t) => {
    let requests = 0;
    const { ask, time, open } = await serve(t, (request, response) => {
      listener(request, response);
      requests += 1;
    });
    const late = assert.rejects(ask());
    await poll(() => requests === 1, 'the request');
    await time.advance(30_000);
    await late;
    const controller = new AbortController();
    const aborted = assert.rejects(ask(controller.signal));
    await poll(() => requests === 2, 'the second request');
    controller.abort();
    await aborted;
    await poll(() => open() === 0, 'the end of the connections');
  });

test('an answer that breaks off is an error', async (t) => {
  const { ask } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 10 });
    response.write('{', () => response.destroy());
  });
  await assert.rejects(ask());
});
