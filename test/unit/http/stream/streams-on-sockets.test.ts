// Real sockets on loopback: a reader that stalls and comes back, and a crowd that comes at once.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import type { JournalledEntry } from '../../../../src/model/events.ts';
import { type EventStream, readStream } from '../../../support/event-stream.ts';
import { poll } from '../../../support/poll.ts';
import { serve } from '../../../virtual/http-fixture.ts';
import { entry } from '../../../virtual/outbox-fixture.ts';

function large(position: number, bytes: number): JournalledEntry {
  return { ...entry(`e${position}:1`, { data: { description: 'x'.repeat(bytes) } }), position };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const positionsOf = ({ events }: EventStream) => events.map(({ id }) => id);

test('a reader that stalls is cut off, comes back and has everything once; another one has it all meanwhile', async (t) => {
  const fixture = await serve(t);
  const url = `http://127.0.0.1:${fixture.port}/v1/stream?after=0`;
  const [stalled, quick] = await Promise.all([readStream(t, url), readStream(t, url)]);
  stalled.pause();
  let committed = 0;
  // The buffers of both sockets come first, and are as large as the system likes.
  for (; fixture.streams.readers === 2 && committed < 500; ) {
    fixture.commit(large(++committed, 128 * 1024));
    await quick.until(() => quick.events.length === committed);
  }
  assert.equal(fixture.streams.readers, 1, 'it was cut off');
  stalled.resume();
  await stalled.until(() => stalled.isEnded);
  const seen = positionsOf(stalled);
  assert.ok(seen.length < committed);
  const again = await readStream(t, url, { 'last-event-id': String(seen.at(-1) ?? 0) });
  await again.until(() => again.events.length === committed - seen.length);
  assert.deepEqual([...seen, ...positionsOf(again)], upTo(committed));
  assert.deepEqual(positionsOf(quick), upTo(committed));
});

test('a hundred readers that are ended at once and come back together have everything once', async (t) => {
  const fixture = await serve(t);
  const url = `http://127.0.0.1:${fixture.port}/v1/stream`;
  fixture.commit(...upTo(20).map((position) => large(position, 500)));
  const come = (after: number) =>
    Promise.all(upTo(100).map(() => readStream(t, url, { 'last-event-id': String(after) })));
  const crowd = await come(5);
  await Promise.all(crowd.map((reader) => reader.until(() => reader.events.length === 15)));
  fixture.streams.endAll();
  await Promise.all(crowd.map((reader) => reader.until(() => reader.isEnded)));
  await poll(() => fixture.streams.readers === 0, 'the end of all');
  fixture.commit(large(21, 500));
  const again = await come(20);
  fixture.commit(large(22, 500));
  await Promise.all(again.map((reader) => reader.until(() => reader.events.length === 2)));
  assert.ok(
    crowd.every(
      (reader, index) =>
        [...positionsOf(reader), ...positionsOf(again[index] ?? reader)].join() === upTo(22).slice(5).join(),
    ),
  );
});

test('a stream that is asked for behind other requests of one connection begins when all of their answers are through', async (t) => {
  const fixture = await serve(t);
  fixture.commit(...upTo(3).map((position) => large(position, 40_000)));
  const socket = net.connect(fixture.port, '127.0.0.1');
  t.after(() => socket.destroy());
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
  });
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  socket.write(ask('/v1/events') + ask('/metrics') + ask('/v1/stream?after=0') + ask('/v1/events'));
  await poll(() => text.includes('id: 3\n'), 'the last event');
  fixture.commit(large(4, 40_000));
  await poll(() => /id: 4\n.*\n\n$/s.test(text), 'an event that is committed then');
  const marks = text.match(/HTTP\/1\.1 \d+|"watching"|polls_total|^id: \d/gm);
  const before = ['HTTP/1.1 200', '"watching"', 'HTTP/1.1 200', 'polls_total'];
  assert.deepEqual(marks, [...before, 'HTTP/1.1 200', ...upTo(4).map((position) => `id: ${position}`)]);
});
