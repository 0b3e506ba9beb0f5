// Servers that answer oddly → whole answers, bounded, or what a request rejects with.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { urlToHttpOptions } from 'node:url';
import {
  exchange,
  type HttpRequest,
  readBody,
  sendRequest,
  UnexpectedUpgrade,
} from '../../../src/net/http-exchange.ts';
import { poll } from '../../support/poll.ts';

const never = new AbortController().signal;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Says the same to every request, and shows what came. */
async function answering(t: TestContext, answer: string) {
  const sockets = new Set<Socket>();
  let asked = '';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      asked += chunk.toString();
    });
    socket.once('data', () => socket.write(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const request: HttpRequest = {
    method: 'POST',
    url: `http://127.0.0.1:${port}/path?query`,
    headers: { 'x-mine': 1 },
    body: 'text',
  };
  return { request, asked: () => asked, open: () => sockets.size };
}

test('a complete answer has status, headers and body, and its connection is closed', async (t) => {
  const { request, asked, open } = await answering(t, OK);
  const { status, headers, body } = await exchange(request, 2, never);
  assert.deepEqual([status, headers['content-length'], body?.toString()], [200, '2', 'ok']);
  assert.match(
    asked(),
    /^POST \/path\?query HTTP\/1\.1\r\nx-mine: 1\r\n[\s\S]*connection: close\r\n[\s\S]*\r\n\r\ntext$/i,
  );
  await poll(() => open() === 0, 'the connection to close');
});

test('a redirect is returned like any other answer', async (t) => {
  const { request } = await answering(t, 'HTTP/1.1 307 Go\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n');
  assert.equal((await exchange(request, 0, never)).status, 307);
});

test('a body that is longer than allowed is null, and the connection is closed', async (t) => {
  const { request, open } = await answering(t, 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc');
  assert.equal((await exchange(request, 2, never)).body, null);
  await poll(() => open() === 0, 'the connection to close');
});

for (const [what, answer, expected] of [
  [
    'an upgrade',
    'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
    { status: 101, constructor: UnexpectedUpgrade },
  ],
  ['interim answers without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(40), /more than 32 interim answers/],
  [
    'headers that are too long',
    `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(17 * 1024)}\r\n\r\n`,
    { code: 'HPE_HEADER_OVERFLOW' },
  ],
  ['a body that is no body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', { code: /^HPE_/ }],
] as const)
  test(`${what} rejects, and leaves no connection`, async (t) => {
    const { request, open } = await answering(t, answer);
    await assert.rejects(exchange(request, 100, never), expected);
    await poll(() => open() === 0, 'the connection to close');
  });

for (const [when, answer] of Object.entries({
  'before the answer': '',
  'in the middle of the body': 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab',
}))
  test(`an abort ${when} rejects at once with its reason, and ends the connection`, async (t) => {
    const { request, asked, open } = await answering(t, answer);
    const controller = new AbortController();
    const reason = new Error('enough');
    const ended = assert.rejects(exchange(request, 100, controller.signal), (error) => error === reason);
    await poll(() => asked().endsWith('text'), 'the request');
    controller.abort(reason);
    await ended;
    await poll(() => open() === 0, 'the connection to close');
  });

test('a signal that has already aborted opens no connection', async (t) => {
  const { request, asked, open } = await answering(t, OK);
  await assert.rejects(exchange(request, 100, AbortSignal.abort('too late')), (reason) => reason === 'too late');
  assert.deepEqual([asked(), open()], ['', 0]);
});

test('a time limit rejects with its reason and closes the connection; a complete answer ends it', async (t) => {
  const silent = await answering(t, '');
  const reason = new Error('too long');
  let pass: (reason: unknown) => void = () => assert.fail();
  let ended = 0;
  const limit: HttpRequest['limit'] = (passes) => {
    pass = passes;
    return () => ended++;
  };
  const late = assert.rejects(exchange({ ...silent.request, limit }, 100, never), (error) => error === reason);
  await poll(() => silent.asked() !== '', 'the request');
  pass(reason);
  await late;
  await poll(() => silent.open() === 0, 'the connection to close');
  ended = 0;
  const { request } = await answering(t, OK);
  await exchange({ ...request, limit }, 2, never);
  assert.equal(ended, 1);
});

test('a parsed URL is requested unchanged', async (t) => {
  const { request, asked } = await answering(t, OK);
  await exchange({ ...request, target: urlToHttpOptions(new URL(request.url)) }, 2, never);
  assert.match(asked(), /^POST \/path\?query HTTP\/1\.1\r\n/);
});

/**
 * Answers on kept connections. `cutNext('')` resets the next request's connection; with a part of an answer it ends
 * after that part. `silence`: no answer.
 */
async function keeping(t: TestContext) {
  const sockets = new Set<Socket>();
  let cut: string | null = null;
  const asked: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      asked.push(chunk.toString());
      if (cut === null) socket.write(OK);
      else if (cut === '') socket.resetAndDestroy();
      else if (cut !== 'silence') socket.end(cut);
      cut = null;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true });
  t.after(() => {
    agent.destroy();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const cutNext = (part: string) => {
    cut = part;
  };
  return {
    request: { method: 'GET', url, headers: {}, agent } as HttpRequest,
    asked,
    connections: () => sockets.size,
    cutNext,
  };
}

test('a request with retryStale is sent again if its kept connection was closed before any answer, and only then', async (t) => {
  const { request, asked, connections, cutNext } = await keeping(t);
  const retrying: HttpRequest = { ...request, retryStale: true };
  await exchange(retrying, 2, never);
  cutNext('');
  assert.equal((await exchange(retrying, 2, never)).body?.toString(), 'ok');
  assert.deepEqual([asked.length, connections()], [3, 2]);
  cutNext('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab');
  await assert.rejects(exchange(retrying, 9, never), { code: 'ECONNRESET' });
  assert.equal(asked.length, 4);
  cutNext('');
  await assert.rejects(exchange(retrying, 2, never), { code: 'ECONNRESET' });
  assert.equal(asked.length, 5);
});

test('a request with retryStale is not sent again after an abort', async (t) => {
  const { request, asked, cutNext } = await keeping(t);
  const retrying: HttpRequest = { ...request, retryStale: true };
  await exchange(retrying, 2, never);
  cutNext('silence');
  const controller = new AbortController();
  const reason = new Error('enough');
  const ended = assert.rejects(exchange(retrying, 2, controller.signal), (error) => error === reason);
  await poll(() => asked.length === 2, 'the request');
  controller.abort(reason);
  await ended;
  await exchange(retrying, 2, never);
  assert.equal(asked.length, 3);
});

test('without retryStale a kept connection that was closed rejects', async (t) => {
  const { request, asked, cutNext } = await keeping(t);
  await exchange(request, 2, never);
  cutNext('');
  await assert.rejects(exchange(request, 2, never), { code: 'ECONNRESET' });
  assert.equal(asked.length, 2);
});

test('a body that breaks off leaves what arrived of it with the caller', async (t) => {
  const { request, cutNext } = await keeping(t);
  cutNext('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab');
  const received: Buffer[] = [];
  const broken = sendRequest({ ...request, statusDecides: true }, never, (incoming) => readBody(incoming, 9, received));
  await assert.rejects(broken, { code: 'ECONNRESET' });
  assert.equal(Buffer.concat(received).toString(), 'ab');
});
