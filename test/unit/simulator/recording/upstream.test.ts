// Requests through the recorder → upstream requests, and answers, whatever upstream does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { BridgeError } from '../../../../src/errors.ts';
import type { SimRequest } from '../../../../src/simulator/answer.ts';
import {
  connectUpstream,
  parseUpstream,
  type Upstream,
  type UpstreamAnswer,
} from '../../../../src/simulator/recording/upstream.ts';
import { systemDeps } from '../../../../src/time/system.ts';
import { FakeMetadata } from '../../../far-sides/metadata-service.ts';
import { poll } from '../../../support/poll.ts';
import { get, post } from '../../../virtual/recording-fixture.ts';
import { textOf } from '../../../virtual/simulation.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';

const NEVER = new AbortController().signal;

function connect(t: TestContext, url: string, deps: Parameters<typeof connectUpstream>[1] = systemDeps()): Upstream {
  const upstream = connectUpstream(parseUpstream(url), deps);
  t.after(() => upstream[Symbol.dispose]());
  return upstream;
}

async function start(t: TestContext, deps?: VirtualTime): Promise<{ fake: FakeMetadata; upstream: Upstream }> {
  const fake = await FakeMetadata.start(t);
  return { fake, upstream: connect(t, fake.url, deps) };
}

const ask = (upstream: Upstream, request: SimRequest = get()): Promise<UpstreamAnswer> =>
  upstream.forward(request, NEVER);

test('any method, path, query and body is forwarded unchanged, with all headers but those of connection and compression', async (t) => {
  const { fake, upstream } = await start(t);
  await ask(upstream, {
    method: 'PATCH',
    url: '/metadata/x%2Fy?a=b&&c',
    headers: {
      Metadata: 'true',
      'x-forwarded-for': '10.0.0.1',
      'if-none-match': '"3"',
      host: 'recorder:8080',
      connection: 'close, X-Mine',
      'x-mine': '1',
      'transfer-encoding': 'chunked',
      'accept-encoding': 'gzip',
      expect: '100-continue',
      te: 'trailers',
    },
    body: new TextEncoder().encode('{ü'),
  });
  const [{ method, path, headers, body } = assert.fail()] = fake.requests;
  assert.deepEqual([method, path, body], ['PATCH', '/metadata/x%2Fy?a=b&&c', '{ü']);
  assert.deepEqual(headers, {
    metadata: 'true',
    'x-forwarded-for': '10.0.0.1',
    'if-none-match': '"3"',
    'content-length': '3',
    connection: 'keep-alive',
    host: new URL(fake.url).host,
  });
});

test('nothing is added to a plain request', async (t) => {
  const { fake, upstream } = await start(t);
  await ask(upstream);
  assert.deepEqual(fake.requests[0]?.headers, {
    metadata: 'true',
    connection: 'keep-alive',
    host: new URL(fake.url).host,
  });
  await ask(upstream, post(''));
  assert.equal(fake.requests[1]?.headers['content-length'], '0');
});

test('status, headers and body are returned unchanged, redirects too', async (t) => {
  const { fake, upstream } = await start(t);
  const body = Uint8Array.from([0, 255, 10, 13, 128]);
  fake.next({
    status: 200,
    headers: { ETag: '"7"', 'Content-Type': 'x/y', 'X-Ms-Thing': 'ü', Connection: 'x-hop', 'X-Hop': '1' },
    body,
  });
  const { date: _, ...headers } = (await ask(upstream).then((answer) => answer.headers)) as Record<string, string>;
  assert.deepEqual(headers, { etag: '"7"', 'content-type': 'x/y', 'x-ms-thing': 'ü' });
  fake.next({ body });
  assert.deepEqual(new Uint8Array((await ask(upstream)).body), body);
  fake.next(
    { status: 302, headers: { Location: 'http://127.0.0.1:1/' } },
    { status: 429, headers: { 'Retry-After': '3' } },
  );
  const redirect = await ask(upstream);
  assert.deepEqual([redirect.status, redirect.headers['location']], [302, 'http://127.0.0.1:1/']);
  const limited = await ask(upstream);
  assert.deepEqual([limited.status, limited.headers['retry-after']], [429, '3']);
});

test('consecutive requests use one connection', async (t) => {
  await using keeping = await keepingServer();
  const upstream = connect(t, keeping.url);
  for (let times = 3; times > 0; times--) assert.equal((await ask(upstream)).status, 200);
  assert.equal(keeping.connections(), 1);
});

test('a GET on a kept connection that was just closed is sent again on a new one', async (t) => {
  await using keeping = await keepingServer();
  const upstream = connect(t, keeping.url);
  await ask(upstream);
  keeping.cutAtNextRequest();
  assert.equal((await ask(upstream)).status, 200);
  assert.equal(keeping.connections(), 2);
  keeping.cutAtNextRequest();
  assert.equal((await ask(upstream, post('{}'))).reset, true);
});

/** Answers every request on its connection with an empty 200. */
async function keepingServer() {
  let connections = 0;
  let cut = false;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => {
      if (cut) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      cut = false;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    connections: () => connections,
    cutAtNextRequest: () => {
      cut = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a connection that upstream resets is reset for the client', async (t) => {
  const { fake, upstream } = await start(t);
  fake.next('reset');
  assert.equal((await ask(upstream)).reset, true);
});

test('an answer that upstream cuts off is cut off at the same byte, with the announced length', async (t) => {
  const { fake, upstream } = await start(t);
  fake.next(
    { truncated: '{"Docu' },
    { raw: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nd' },
  );
  const announced = await ask(upstream);
  assert.deepEqual(
    [announced.status, announced.truncate, announced.body.length, announced.unreachable],
    [200, 6, 1000, undefined],
  );
  assert.equal(textOf({ ...announced, body: announced.body.subarray(0, 6) }), '{"Docu');
  const chunked = await ask(upstream);
  assert.deepEqual([chunked.truncate, chunked.body.length], [4, 5]);
});

test('for an upstream that is down, the client gets a 502 with the reason', async (t) => {
  const { fake, upstream } = await start(t);
  await fake.stop();
  const answer = await ask(upstream);
  assert.deepEqual([answer.status, answer.unreachable], [502, 'ECONNREFUSED']);
  assert.match(textOf(answer), new RegExp(`The recorder received no answer from ${fake.url}: .*ECONNREFUSED`));
});

test('for an answer that is not HTTP, changes the protocol or exceeds 16 MiB, the client gets a 502', async (t) => {
  const { fake, upstream } = await start(t);
  fake.next({ raw: 'hello\r\n\r\n' });
  assert.match((await ask(upstream)).unreachable ?? '', /^HPE_/);
  fake.next({ raw: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n' });
  assert.deepEqual((await ask(upstream)).unreachable, 'it tried to change the protocol');
  fake.next({ body: new Uint8Array(16 * 1024 * 1024 + 1) });
  const large = await ask(upstream);
  assert.deepEqual([large.status, large.unreachable], [502, 'its answer is larger than 16777216 bytes']);
  assert.equal((await ask(upstream)).status, 200);
});

test('for endless interim answers the client gets a 502', async (t) => {
  const { fake, upstream } = await start(t);
  fake.next({ raw: `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(40)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n` });
  assert.equal((await ask(upstream)).unreachable, 'more than 32 interim answers');
});

test('for a request that cannot be forwarded the client gets a 502', async (t) => {
  const { upstream } = await start(t);
  assert.equal((await ask(upstream, { ...get(), url: '/metadata/ä b' })).unreachable, 'ERR_UNESCAPED_CHARACTERS');
});

test('an answer can take two minutes, and after 150 s the client gets a 504', async (t) => {
  const time = new VirtualTime();
  const { fake, upstream } = await start(t, time);
  fake.next('hold', 'hold');
  const patient = ask(upstream);
  await poll(() => fake.held.length === 1, 'the first request');
  await time.advance(149_999);
  fake.held[0]?.end('late');
  assert.equal(textOf(await patient), 'late');
  const late = ask(upstream);
  await poll(() => fake.held.length === 2, 'the second request');
  await time.advance(150_000);
  const { status, unreachable, body } = await late;
  assert.deepEqual([status, unreachable], [504, 'timeout']);
  assert.match(new TextDecoder().decode(body), /no complete answer from http:\/\/127\.0\.0\.1:\d+ within 150 s/);
  assert.equal(time.pending, 0);
});

test('an aborted request is cancelled upstream, and one that was aborted before is not sent', async (t) => {
  const time = new VirtualTime();
  const { fake, upstream } = await start(t, time);
  const client = new AbortController();
  fake.next('hold');
  const given = upstream.forward(get(), client.signal);
  await poll(() => fake.held.length === 1, 'the request');
  const closed = once(fake.held[0] as NonNullable<(typeof fake.held)[0]>, 'close');
  client.abort();
  await assert.rejects(given, { name: 'AbortError' });
  await closed;
  await assert.rejects(upstream.forward(get(), client.signal), { name: 'AbortError' });
  assert.deepEqual([fake.requests.length, time.pending], [1, 0]);
});

for (const url of ['http://169.254.169.254', 'http://169.254.169.254:80/', 'HTTP://169.254.169.254']) {
  test(`${url} is a valid upstream`, () => assert.equal(parseUpstream(url), 'http://169.254.169.254'));
}

test('names, ports and IPv6 addresses are valid upstreams', () => {
  assert.deepEqual(['http://localhost:8080', 'http://[::1]:8080'].map(parseUpstream), [
    'http://localhost:8080',
    'http://[::1]:8080',
  ]);
});

const INVALID_UPSTREAMS = [
  'https://h',
  'h:80',
  'http://',
  'http://u:hunter2@h',
  'http://h/metadata',
  'http://h?x',
  'http://h#x',
  'http://h:99999',
  'http://a b',
  '',
];
for (const url of INVALID_UPSTREAMS) {
  test(`"${url}" is not a valid upstream, and is not shown`, () => {
    assert.throws(
      () => parseUpstream(url),
      (error) => error instanceof BridgeError && error.code === 'BRIDGE_USAGE' && !error.message.includes('hunter2'),
    );
  });
}
