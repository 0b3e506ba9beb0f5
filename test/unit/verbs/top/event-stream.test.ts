// A stream that is cut, silent, slow or refused → its events, and why it is not read.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { systemDeps } from '../../../../src/time/system.ts';
import { EventStream } from '../../../../src/verbs/top/event-stream.ts';
import { poll } from '../../../support/poll.ts';

/** A bridge that answers as told, and a reader of its stream. */
async function reading(t: TestContext, answer: (response: ServerResponse, count: number) => void) {
  let count = 0;
  const server = createServer((_, response) => answer(response, ++count)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const seen: string[] = [];
  const clock = { ...systemDeps(), skippedMs: 0 };
  const deps = { ...clock, elapsedMs: () => clock.elapsedMs() + clock.skippedMs };
  const stream = new EventStream({ url, headers: {} }, deps, {
    opened: () => seen.push('opened'),
    received: (change, data) => seen.push(`${change} ${data}`),
    broke: (reason) => seen.push(`broke: ${reason}`),
  });
  t.after(() => {
    stream.close();
    server.closeAllConnections();
    server.close();
  });
  stream.open(0);
  return {
    seen,
    stream,
    clock,
    until: (line: RegExp) =>
      poll(
        () => seen.some((each) => line.test(each)),
        () => `${line} in ${seen}`,
      ),
  };
}

const HEAD = { 'content-type': 'text/event-stream' };

test('events arrive whole, however they are cut, and comments are passed over', async (t) => {
  const { seen, until } = await reading(t, (response) => {
    response.writeHead(200, HEAD).write(':\n\nid: 1\nevent: sched');
    response.write('uled\ndata: {"a":"ä');
    setImmediate(() => response.write('"}\n\n:\n\nid: 2\nevent: ended\ndata: 2\n\nid: 3\n\n'));
  });
  await until(/^ended/);
  assert.deepEqual(seen, ['opened', 'scheduled {"a":"ä"}', 'ended 2']);
});

test('after a break it connects again', async (t) => {
  const { seen, until } = await reading(t, (response, count) => {
    response.writeHead(200, HEAD).write(`event: ended\ndata: ${count}\n\n`);
    if (count === 1) setImmediate(() => response.destroy());
  });
  await until(/^ended 2/);
  assert.deepEqual(seen, ['opened', 'ended 1', 'broke: the connection broke', 'opened', 'ended 2']);
});

test('a refusal, and an answer that is not a stream, say what to do', async (t) => {
  for (const [status, head, reason] of [
    [401, {}, /--token-env NAME/],
    [404, {}, /is this the address of http\.listen/],
    [200, { 'content-type': 'text/html' }, /not as a bridge does/],
  ] as const) {
    const { until, seen } = await reading(t, (response) => void response.writeHead(status, head).end('no'));
    await until(/^broke/);
    assert.match(seen[0] ?? '', reason);
  }
});

test('a stream on which nothing comes for 45 s is broken off', async (t) => {
  const { seen, stream, clock, until } = await reading(
    t,
    (response) => void response.writeHead(200, HEAD).write(':\n\n'),
  );
  await until(/^opened/);
  clock.skippedMs = 44_000;
  stream.checkSilence();
  assert.deepEqual(seen, ['opened']);
  clock.skippedMs = 46_000;
  stream.checkSilence();
  assert.deepEqual(seen, ['opened', 'broke: nothing came for 45 s']);
});
