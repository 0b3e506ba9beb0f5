// A server's bytes as a test wants them → our end of the WebSocket, and what it sends (RFC 6455).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { openWebSocket } from '../../../../../adapters/service-bus/connection/websocket-stream.ts';
import { poll } from '../../../../support/poll.ts';

const TARGET = {
  authority: 'ns.test',
  path: '/$servicebus/websocket',
  protocol: 'AMQPWSB10',
  who: 'sink bus: ns.test',
};
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const never = new AbortController().signal;

/** A connection to a server that answers the handshake with what `answer` makes of its head. */
async function connected(
  t: TestContext,
  answer: (head: string) => string | Buffer,
): Promise<{ client: Socket; server: Promise<Socket>; head: () => string }> {
  let head = '';
  const accepted = Promise.withResolvers<Socket>();
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (chunk) => {
      head = chunk.toString();
      socket.write(answer(head));
      accepted.resolve(socket);
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => {
    client.destroy();
    listener.close();
  });
  await once(client, 'connect');
  return { client, server: accepted.promise, head: () => head };
}

function accepting(head: string, { protocol = 'AMQPWSB10', spoil = '' } = {}): string {
  const key = /sec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? '';
  const accept = createHash('sha1').update(`${key}${GUID}${spoil}`).digest('base64');
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;
}

async function opened(t: TestContext, trailing = Buffer.alloc(0)) {
  const { client, server, head } = await connected(t, (text) =>
    Buffer.concat([Buffer.from(accepting(text)), trailing]),
  );
  const stream = await openWebSocket(client, TARGET, never);
  const far = await server;
  const chunks: Buffer[] = [];
  const sent: Buffer[] = [];
  const ended = Promise.withResolvers<Error | null>();
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => ended.resolve(null));
  stream.on('error', (error) => ended.resolve(error));
  far.on('data', (chunk: Buffer) => sent.push(chunk));
  return {
    stream: stream as Duplex,
    far,
    head,
    received: () => Buffer.concat(chunks).toString(),
    sent: () => Buffer.concat(sent),
    ended: ended.promise,
  };
}

test('it asks for the path and protocol of Service Bus', async (t) => {
  const { head } = await opened(t);
  assert.match(head(), /^GET \/\$servicebus\/websocket HTTP\/1\.1\r\n/);
  for (const line of [
    /\r\nhost: ns\.test\r\n/i,
    /\r\nupgrade: websocket\r\n/i,
    /\r\nsec-websocket-protocol: AMQPWSB10\r\n/i,
    /\r\nsec-websocket-version: 13\r\n/i,
  ])
    assert.match(head(), line);
});

test('what comes with the handshake, in pieces, and in fragments is one stream', async (t) => {
  const { far, received } = await opened(t, Buffer.from('\x82\x03one', 'latin1'));
  await poll(() => received() === 'one', 'what came with the handshake');
  // A message in two fragments with a pong between them, cut at odd places.
  const bytes = Buffer.from('\x02\x03two\x8a\x01p\x80\x05three', 'latin1');
  for (const byte of bytes) far.write(Buffer.from([byte]));
  await poll(() => received() === 'onetwothree', 'the fragments');
  const long = 'x'.repeat(70_000);
  far.write(Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70]), Buffer.from(long)]));
  far.write(Buffer.concat([Buffer.from([0x82, 126, 0, 200]), Buffer.from('y'.repeat(200))]));
  await poll(() => received().length === 11 + 70_000 + 200, 'the long ones');
});

test('what is sent is masked, in frames of all three lengths, and a ping is answered', async (t) => {
  const { stream, far, sent } = await opened(t);
  far.write(Buffer.from('\x89\x02hi', 'latin1'));
  await poll(() => framesIn(sent()).length === 1, 'the pong');
  assert.deepEqual(framesIn(sent()), [{ head: [0x8a, 0x82], payload: Buffer.from('hi') }]);
  const payloads = [5, 300, 70_000].map((size) => Buffer.alloc(size, 'z'));
  for (const payload of payloads) stream.write(payload);
  await poll(() => framesIn(sent()).length === 4, 'the frames');
  assert.deepEqual(
    framesIn(sent()).slice(1),
    payloads.map((payload, index) => ({ head: [0x82, [0x85, 0xfe, 0xff][index]], payload })),
  );
  stream.end();
  await poll(() => framesIn(sent()).at(-1)?.head[0] === 0x88, 'the goodbye');
});

/** The whole frames of a client, unmasked. */
function framesIn(bytes: Buffer): { readonly head: readonly number[]; readonly payload: Buffer }[] {
  if (bytes.length < 2) return [];
  const head = [bytes.readUInt8(0), bytes.readUInt8(1)] as const;
  const short = head[1] & 0x7f;
  const at = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < at) return [];
  const size = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  const [mask, end] = [bytes.subarray(at, at + 4), at + 4 + size];
  if (bytes.length < end) return [];
  const payload = bytes.subarray(at + 4, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return [{ head, payload: Buffer.from(payload) }, ...framesIn(bytes.subarray(end))];
}

test('a goodbye of the server, or its end, ends the stream; nothing after it counts', async (t) => {
  const one = await opened(t);
  one.far.write(Buffer.from('\x88\x00\x82\x01x', 'latin1'));
  assert.equal(await one.ended, null);
  assert.equal(one.received(), '');
  const other = await opened(t);
  other.far.end();
  assert.equal(await other.ended, null);
});

for (const [what, bytes] of Object.entries({
  'a text': '\x81\x01x',
  'a masked frame': '\x82\x81aaaax',
  'a reserved bit': '\xc2\x01x',
  'an unknown opcode': '\x83\x01x',
  'a frame of 16 MiB and more': '\x82\x7f\x00\x00\x00\x00\x02\x00\x00\x00',
}))
  test(`${what} ends the stream with an error`, async (t) => {
    const { far, ended } = await opened(t);
    far.write(Buffer.from(bytes, 'latin1'));
    assert.ok((await ended) instanceof Error);
  });

for (const [what, answer] of Object.entries({
  'another status': () => 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
  'a proof that is wrong': (head: string) => accepting(head, { spoil: 'x' }),
  'another protocol': (head: string) => accepting(head, { protocol: 'other' }),
}))
  test(`a handshake that is answered with ${what} is no WebSocket`, async (t) => {
    const { client } = await connected(t, answer);
    await assert.rejects(openWebSocket(client, TARGET, never), {
      code: 'BRIDGE_SERVICE_BUS_BROKEN',
      disposition: 'retry',
    });
    assert.ok(client.destroyed);
  });

test('a handshake that is not answered ends with the signal, whose reason it gives', async (t) => {
  const { client, server } = await connected(t, () => '');
  const controller = new AbortController();
  const opening = openWebSocket(client, TARGET, controller.signal);
  await server;
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(opening, (error) => error === reason);
  assert.ok(client.destroyed);
});
