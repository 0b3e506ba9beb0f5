// A source stopped or closed, idle or at work → how soon it ends, what becomes of its messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageVerdict } from '../../../adapters/approval-source.ts';
import type { BridgeError } from '../../../src/errors.ts';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { Reading } from '../source-reading.ts';
import { openServer, openSource, QUEUE, send } from './source-fixture.ts';

const never = new AbortController().signal;

test('an abort rejects at once with its reason; the current message is settled afterwards', async (t) => {
  const server = await openServer(t);
  const { source } = openSource(server);
  const verdict = Promise.withResolvers<MessageVerdict>();
  const reading = new Reading(source, () => verdict.promise);
  await send(server, ['one']);
  await reading.until(1);
  const reason = new Error('stop');
  assert.equal(await reading.abort(reason), reason);
  assert.equal(server.queue(QUEUE).messages().length, 1);
  verdict.resolve('settle');
  await source[Symbol.asyncDispose]();
  assert.deepEqual(server.queue(QUEUE).messages(), []);
  assert.deepEqual(server.protocolErrors, []);
});

test('a message without a verdict shortly after the abort is returned to the other readers', async (t) => {
  const server = await openServer(t);
  const first = openSource(server);
  const reading = new Reading(first.source, () => new Promise(() => {}));
  await send(server, ['one', 'two']);
  await reading.until(2);
  await reading.abort();
  await first.source[Symbol.asyncDispose]();
  const second = new Reading(openSource(server).source);
  await second.until(2);
  assert.deepEqual(second.messages.map(({ id }) => id).toSorted(), reading.messages.map(({ id }) => id).toSorted());
});

test('a message that arrives while a source is stopping is returned unprocessed', async (t) => {
  const server = await openServer(t);
  const texts = Array.from({ length: 60 }, (_, index) => `message-${index}`);
  const { source } = openSource(server);
  const taken: string[] = [];
  const reading = new Reading(source, async (message): Promise<MessageVerdict> => {
    taken.push(message.id);
    if (taken.length === 20) void reading.abort();
    return 'settle';
  });
  await send(server, texts);
  await reading.done;
  await source[Symbol.asyncDispose]();
  const second = new Reading(openSource(server).source);
  await server.until(() => server.queue(QUEUE).messages().length === 0, 'an empty queue');
  const all = [...reading.texts, ...second.texts];
  assert.deepEqual([all.length, new Set(all)], [60, new Set(texts)]);
});

test('a closed source ends its receiving and refuses new calls', async (t) => {
  const server = await openServer(t);
  const { source } = openSource(server);
  const reading = await new Reading(source).ready();
  await source[Symbol.asyncDispose]();
  await source[Symbol.asyncDispose]();
  const ends = [reading.done, new Reading(source).done, source.check(never).catch((error: unknown) => error)];
  for (const end of ends) assert.equal(((await end) as BridgeError).code, 'BRIDGE_ADAPTER_CLOSED');
  await server.until(() => server.open === 0, 'no connection');
});

test('a source that was never used opens and logs nothing', async (t) => {
  const server = await openServer(t);
  const { source, logged } = openSource(server);
  await source[Symbol.asyncDispose]();
  assert.deepEqual([server.contacts(), logged()], [[], '']);
});

for (const sessions of [false, true]) {
  test(`${sessions ? 'a wait for sessions is' : 'a message is'} released in time if the server no longer answers`, async (t) => {
    const server = await serviceBusServer(t);
    server.queue('q', { sessions });
    const time = new VirtualTime();
    const { source } = openSource(server, { time, options: { queue: 'q', sessions, timeout: '1s' } });
    const reading = new Reading(source, () => new Promise(() => {}));
    while (!reading.isReady) await time.advance(10);
    if (!sessions) {
      await send(server, ['one'], {}, 'q');
      await reading.until(1);
    }
    server.silent = true;
    await reading.abort();
    const closing = source[Symbol.asyncDispose]();
    await time.advance(1000);
    await closing;
    await server.until(() => server.open === (sessions ? 0 : 1), "no connection but the sender's");
  });
}

for (const [what, prepare] of [
  ['connects', (server: Awaited<ReturnType<typeof openServer>>) => (server.silent = true)],
  ['attaches', (server: Awaited<ReturnType<typeof openServer>>) => server.faults.onAttach({ do: 'ignore' })],
] as const) {
  test(`an abort while a source ${what} rejects at once, and nothing stays open`, async (t) => {
    const server = await openServer(t);
    prepare(server);
    // Its clock stands still, so it ends without waiting for anything.
    const { source } = openSource(server, { time: new VirtualTime() });
    const reading = new Reading(source);
    await server.until(() => server.contacts('connection').length > 0, 'a connection');
    const reason = new Error('stop');
    assert.equal(await reading.abort(reason), reason);
    await source[Symbol.asyncDispose]();
    await server.until(() => server.open === 0, 'no connection');
    assert.equal(reading.isReady, false);
  });
}

test('an abort before the call opens nothing', async (t) => {
  const server = await openServer(t);
  const { source } = openSource(server);
  const reason = new Error('stop');
  await assert.rejects(
    source.receive(
      async () => 'settle',
      AbortSignal.abort(reason),
      () => assert.fail('ready'),
    ),
    reason,
  );
  assert.deepEqual(server.contacts(), []);
});
