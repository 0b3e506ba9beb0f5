// Connections that pipeline, do not read or are silent → answers for all others, bounded memory.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { startServer } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { EVENTS } from '../../virtual/simulation.ts';

const GET = `GET ${EVENTS} HTTP/1.1\r\nHost: localhost\r\nMetadata: true\r\n\r\n`;

async function open(t: TestContext, url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  // Connections that are closed while they write.
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Reads from a socket until `text` has arrived `times` times, or the socket ends. */
async function read(socket: Socket, text: string, times: number): Promise<string> {
  let all = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    all += chunk.toString();
    if (all.split(text).length > times) break;
  }
  return all;
}

const answers = (url: string): Promise<number> =>
  fetch(url + EVENTS, { headers: { Metadata: 'true' } }).then(({ status }) => status);

test('pipelined requests are answered in order', async (t) => {
  const server = await startServer(t);
  const socket = await open(t, server.url);
  const order = `PUT /simulator/faults HTTP/1.1\r\nHost: localhost\r\nContent-Length: 14\r\n\r\n{"status":418}`;
  socket.write(GET + order + GET + GET);
  const statuses = [...(await read(socket, 'HTTP/1.1', 4)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert.deepEqual(statuses, ['200', '204', '418', '200']);
});

test('the next request of a connection is handled after the answer before it was sent', async (t) => {
  const server = await startServer(t);
  server.group.faults.order([{ delayMs: 600_000 }], server.group.clock.nowMs());
  const socket = await open(t, server.url);
  socket.write(GET.repeat(10));
  await poll(() => server.group.journal.requests().length > 0, 'the first request');
  assert.equal(await answers(server.url), 200);
  assert.equal(server.group.journal.requests().length, 2);
});

test('clients that pipeline hundreds of requests and read no answers get few answers made, and others are answered', async (t) => {
  const { url, group } = await startServer(t);
  // The operating system takes some of these answers of each client that does not read.
  group.faults.order([{ body: 'x'.repeat(1_000_000), times: 1_000_000 }], group.clock.nowMs());
  const sockets = await Promise.all(Array.from({ length: 20 }, () => open(t, url)));
  for (const socket of sockets) socket.pause().write(GET.repeat(500));
  for (let before = -1; before !== group.journal.requests().length; ) {
    before = group.journal.requests().length;
    for (let turn = 0; turn < 20; turn++) assert.equal((await fetch(`${url}/simulator/scenarios`)).status, 200);
  }
  assert.ok(group.journal.requests().length < 1000, `${group.journal.requests().length} of 10,000 answers were made`);
});

test('a thousand silent connections do not keep other clients out', async (t) => {
  const { url } = await startServer(t);
  const silent: Socket[] = [];
  for (let batch = 0; batch < 11; batch++)
    silent.push(...(await Promise.all(Array.from({ length: 100 }, () => open(t, url)))));
  assert.equal(await answers(url), 200);
  await poll(
    () => silent.filter((socket) => socket.readyState === 'closed' || socket.destroyed).length > 70,
    'the oldest to make room',
  );
  assert.equal(silent.at(-1)?.destroyed, false);
});
