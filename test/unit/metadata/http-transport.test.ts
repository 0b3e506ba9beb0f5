// Requests to real sockets → bytes on the wire, limits, cuts, and never a proxy or a redirect.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import packageJson from '../../../package.json' with { type: 'json' };
import { BridgeError } from '../../../src/errors.ts';
import { createHttpTransport } from '../../../src/metadata/http-transport.ts';
import type { TransportRequest } from '../../../src/metadata/transport.ts';
import { FakeMetadata } from '../../far-sides/metadata-service.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const never = new AbortController().signal;

async function start(t: TestContext) {
  const fake = await FakeMetadata.start(t);
  const time = new VirtualTime();
  const transport = createHttpTransport(time);
  t.after(() => transport.close());
  const get: TransportRequest = {
    method: 'GET',
    url: `${fake.url}/metadata/scheduledevents`,
    headers: { Metadata: 'true' },
    timeoutMs: 10_000,
  };
  return {
    fake,
    time,
    transport,
    get,
    post: { ...get, method: 'POST', body: '{"StartRequests":[]}' } as TransportRequest,
  };
}

function failsWith(code: string, status?: string) {
  return (error: unknown) => {
    assert.ok(error instanceof BridgeError, String(error));
    assert.equal(error.code, code);
    if (status !== undefined) assert.equal(error.status, status);
    return true;
  };
}

describe('a request', () => {
  test('sends its headers, nothing about forwarding, and gives back status, headers and body', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({ status: 410, headers: { 'Retry-After': '7' }, body: 'gone' });
    const answer = await transport.send(get, never);
    assert.equal(answer.status, 410);
    assert.equal(answer.headers['retry-after'], '7');
    assert.equal(Buffer.from(answer.body).toString(), 'gone');
    assert.equal(fake.requests[0]?.headers['metadata'], 'true');
    assert.equal(fake.requests[0]?.headers['x-forwarded-for'], undefined);
  });

  test('sends the name and version of the program', async (t) => {
    const { fake, transport, get, post } = await start(t);
    for (const request of [get, post]) await transport.send(request, never);
    for (const { headers } of fake.requests)
      assert.equal(headers['user-agent'], `scheduled-events-bridge/${packageJson.version}`);
    assert.equal(fake.requests.length, 2);
  });

  test('gives the first value of a header that comes twice', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({ raw: 'HTTP/1.1 410 Gone\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n' });
    assert.equal((await transport.send(get, never)).headers['retry-after'], '7');
  });

  test('posts its body with its length', async (t) => {
    const { fake, transport, post } = await start(t);
    await transport.send(post, never);
    assert.equal(fake.requests[0]?.body, '{"StartRequests":[]}');
    assert.equal(fake.requests[0]?.headers['content-length'], '20');
  });

  test('uses one connection again and again', async (t) => {
    const { fake, transport, get } = await start(t);
    for (let n = 0; n < 5; n++) await transport.send(get, never);
    assert.equal(fake.connections, 1);
  });

  test('keeps one connection after several were needed at once', async (t) => {
    const { fake, transport, get } = await start(t);
    await Promise.all([transport.send(get, never), transport.send(get, never), transport.send(get, never)]);
    for (let n = 0; n < 3; n++) await transport.send(get, never);
    assert.equal(fake.connections, 3);
  });

  test('uses no connection that was idle for more than 4 s: the server may be closing it', async (t) => {
    const { fake, time, transport, get } = await start(t);
    for (const idleMs of [4000, 4001]) {
      await transport.send(get, never);
      await time.advance(idleMs);
    }
    await transport.send(get, never);
    assert.equal(fake.connections, 2);
  });

  test('does not follow a redirect', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({ status: 302, headers: { Location: `${fake.url}/elsewhere` } });
    assert.equal((await transport.send(get, never)).status, 302);
    assert.equal(fake.requests.length, 1);
  });

  test('returns a body that the server sends without a length', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({ raw: 'HTTP/1.0 200 OK\r\n\r\n{}' });
    assert.equal(Buffer.from((await transport.send(get, never)).body).toString(), '{}');
  });

  test('ignores a 100 and a 103', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({
      raw: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
    });
    assert.equal((await transport.send(get, never)).status, 200);
  });
});

describe('time', () => {
  test('no answer within the limit is a time-out, and the connection is dropped', async (t) => {
    const { fake, time, transport, get } = await start(t);
    fake.next('hold');
    const answer = transport.send(get, never);
    answer.catch(() => {});
    await fake.requested();
    const dropped = once(fake.held[0] ?? assert.fail(), 'close');
    await time.advance(9999);
    assert.equal(time.pending, 1);
    await time.advance(1);
    await assert.rejects(answer, failsWith('BRIDGE_METADATA_TIMEOUT'));
    await dropped;
  });

  test('a slow drip does not move the limit', async (t) => {
    const { fake, time, transport, get } = await start(t);
    fake.next('hold');
    const answer = transport.send(get, never);
    answer.catch(() => {});
    await fake.requested();
    const response = fake.held[0] ?? assert.fail();
    for (let n = 0; n < 10; n++) {
      response.write('x');
      await time.advance(1000);
    }
    await assert.rejects(answer, failsWith('BRIDGE_METADATA_TIMEOUT'));
  });

  test('a limit of 130 s waits for an answer that takes two minutes', async (t) => {
    const { fake, time, transport, get } = await start(t);
    fake.next('hold');
    const answer = transport.send({ ...get, timeoutMs: 130_000 }, never);
    await fake.requested();
    await time.advance(120_000);
    fake.held[0]?.end('{}');
    assert.equal((await answer).status, 200);
    transport.close();
    assert.equal(time.pending, 0);
  });

  test('the limit counts elapsed time: a jump of the clock moves nothing', async (t) => {
    const { fake, time, transport, get } = await start(t);
    fake.next('hold');
    const answer = transport.send(get, never);
    await fake.requested();
    time.jumpWall(3_600_000);
    await time.advance(9000);
    fake.held[0]?.end('{}');
    assert.equal((await answer).status, 200);
  });

  test('an abort passes unchanged and at once, before, during and after the head', async (t) => {
    const { fake, transport, get } = await start(t);
    const reason = new Error('enough');
    await assert.rejects(transport.send(get, AbortSignal.abort(reason)), (error) => error === reason);
    assert.equal(fake.connections, 0);
    for (const withHead of [false, true]) {
      fake.next('hold');
      const controller = new AbortController();
      const answer = transport.send(get, controller.signal);
      answer.catch(() => {});
      await fake.requested();
      const response = fake.held.pop() ?? assert.fail();
      const dropped = once(response, 'close');
      if (withHead) response.write('{');
      controller.abort(reason);
      await assert.rejects(answer, (error) => error === reason);
      await dropped;
    }
  });
});

describe('limits of size', () => {
  test('a body of 4 MiB is read, one byte more is refused and the connection dropped', async (t) => {
    const { fake, transport, get } = await start(t);
    const limit = 4 * 1024 * 1024;
    fake.next({ body: Buffer.alloc(limit, 'x') }, { body: Buffer.alloc(limit + 1, 'x') });
    assert.equal((await transport.send(get, never)).body.length, limit);
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_TOO_LARGE'));
    await transport.send(get, never);
    assert.equal(fake.connections, 2);
  });

  test('an endless body without a length is refused', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next('hold');
    const answer = transport.send(get, never);
    answer.catch(() => {});
    await fake.requested();
    const response = fake.held[0] ?? assert.fail();
    let open = true;
    response.once('close', () => {
      open = false;
    });
    const pour = () => open && response.write(Buffer.alloc(64 * 1024), pour);
    pour();
    await assert.rejects(answer, failsWith('BRIDGE_METADATA_TOO_LARGE'));
  });

  test('headers of 17 KiB are refused, of 15 KiB read', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({ headers: { 'X-Long': 'x'.repeat(15 * 1024) } }, { headers: { 'X-Long': 'x'.repeat(17 * 1024) } });
    assert.equal((await transport.send(get, never)).status, 200);
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_INVALID'));
  });
});

describe('broken answers', () => {
  test('a reset, a truncated body and a non-HTTP answer are distinct errors', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next(
      'reset',
      { truncated: '{"DocumentIncarnation":1,"Events":[' },
      { raw: 'SSH-2.0-OpenSSH_9.2\r\n' },
      { raw: 'HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n' },
    );
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_UNREACHABLE', 'ECONNRESET'));
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_UNREACHABLE', 'ECONNRESET'));
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_INVALID'));
    await assert.rejects(transport.send(get, never), BridgeError);
    assert.equal(fake.requests.length, 4);
  });

  test('an answer cut right after its head is not an empty one', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({ raw: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n' });
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_UNREACHABLE', 'ECONNRESET'));
  });

  test('a chunked body that is cut is an error', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next({ raw: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n' });
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_UNREACHABLE', 'ECONNRESET'));
  });

  test('a refused connection says what to check', async (t) => {
    const { fake, transport, get } = await start(t);
    await fake.stop();
    await assert.rejects(transport.send(get, never), (error) => {
      assert.match(
        String(error),
        /cannot reach the metadata service at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\): check metadata\.endpoint/,
      );
      return failsWith('BRIDGE_METADATA_UNREACHABLE', 'ECONNREFUSED')(error);
    });
  });

  test('a request that fails on a kept connection is not sent again: the schedule decides about the next one', async (t) => {
    const { fake, transport, get, post } = await start(t);
    await transport.send(get, never);
    fake.next('reset');
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_UNREACHABLE', 'ECONNRESET'));
    assert.equal(fake.requests.length, 2);
    await transport.send(get, never);
    fake.next('reset');
    await assert.rejects(transport.send(post, never), failsWith('BRIDGE_METADATA_UNREACHABLE', 'ECONNRESET'));
    assert.equal(fake.requests.length, 4);
  });
});

test('each error of the transport names the service, what failed and what to check', async (t) => {
  const { fake, time, transport, get } = await start(t);
  const rejection = async (answer: Promise<unknown>) => {
    const error = await answer.then(
      () => assert.fail('it was answered'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof BridgeError, String(error));
    return `${error.code}: ${error.message}`;
  };
  fake.next('hold');
  const late = transport.send({ ...get, timeoutMs: 2500 }, never);
  late.catch(() => {});
  await fake.requested();
  await time.advance(2500);
  assert.equal(
    await rejection(late),
    `BRIDGE_METADATA_TIMEOUT: the metadata service at ${fake.url} gave no complete answer within 2.5 s; its first answer can take 2 minutes, and without a route to it (host network, primary network interface) no answer ever comes`,
  );
  fake.next({ body: Buffer.alloc(4 * 1024 * 1024 + 1, 'x') });
  assert.equal(
    await rejection(transport.send(get, never)),
    `BRIDGE_METADATA_TOO_LARGE: the answer of ${fake.url} is larger than 4 MiB: check metadata.endpoint`,
  );
  fake.next({ raw: 'HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n' });
  assert.equal(
    await rejection(transport.send(get, never)),
    `BRIDGE_METADATA_INVALID: the answer of ${fake.url} upgrades to another protocol: check metadata.endpoint`,
  );
  transport.close();
  assert.equal(
    await rejection(transport.send(get, never)),
    'BRIDGE_METADATA_CLOSED: the client of the metadata service is closed: nothing more is sent',
  );
});

test('after a request that was cut off, the connection of the others is kept', async (t) => {
  const { fake, transport, get } = await start(t);
  await transport.send(get, never);
  fake.next('hold');
  const controller = new AbortController();
  const held = transport.send(get, controller.signal);
  held.catch(() => {});
  await fake.requested();
  await transport.send(get, never);
  controller.abort(new Error('enough'));
  await assert.rejects(held, /enough/);
  await transport.send(get, never);
  assert.equal(fake.connections, 2);
});

describe('closing', () => {
  test('lets a running request end, rejects new ones, and closes the connection', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next('hold');
    const answer = transport.send(get, never);
    await fake.requested();
    transport.close();
    transport.close();
    await assert.rejects(transport.send(get, never), failsWith('BRIDGE_METADATA_CLOSED'));
    const response = fake.held[0] ?? assert.fail();
    const closed = once(response.socket ?? assert.fail(), 'close');
    response.end('{}');
    assert.equal((await answer).status, 200);
    await closed;
  });

  test('before any request closes nothing, and leaves nothing', () => {
    const time = new VirtualTime();
    const transport = createHttpTransport(time);
    transport.close();
    transport.close();
    assert.equal(time.pending, 0);
  });

  test('lets every running request end, also after another has ended', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next('hold', 'hold');
    const first = transport.send(get, never);
    await fake.requested();
    const second = transport.send(get, never);
    await fake.requested();
    transport.close();
    fake.held[0]?.end('{}');
    assert.equal((await first).status, 200);
    fake.held[1]?.end('{}');
    assert.equal((await second).status, 200);
  });

  test('closes an idle connection at once', async (t) => {
    const { fake, transport, get } = await start(t);
    fake.next('hold');
    const answer = transport.send(get, never);
    await fake.requested();
    const response = fake.held[0] ?? assert.fail();
    const closed = once(response.socket ?? assert.fail(), 'close');
    response.end('{}');
    await answer;
    transport.close();
    await closed;
  });
});
