// The stream of a bridge → handlers: each event once and in order, over breaks, failures and gaps.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { CloudEvent } from '../../../../src/consumer/event.ts';
import { dispatcherOn } from '../../../../src/consumer/receive/dispatcher.ts';
import { memoryHandledStore } from '../../../../src/consumer/receive/handled-store.ts';
import { streamOn } from '../../../../src/consumer/receive/stream.ts';
import { type StreamOptions, stream } from '../../../../src/consumer.ts';
import type { JournalledEntry } from '../../../../src/model/events.ts';
import { type HttpFixture, READER, serve } from '../../../virtual/http-fixture.ts';
import { entry } from '../../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../../virtual/virtual-time.ts';
import { deliveryOf, drillLife } from '../deliveries.ts';

function journalled(position: number): JournalledEntry {
  const id = `e${position}:1`;
  const event = { specversion: '1.0', id, source: '/vm', type: 'com.example.other', data: { position } };
  return { ...entry(id), position, bytes: new TextEncoder().encode(JSON.stringify(event)) };
}

function follow(t: TestContext, { port }: HttpFixture, more: Partial<StreamOptions> = {}) {
  const ids: string[] = [];
  const errors: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const options = {
    url: `http://127.0.0.1:${port}`,
    token: READER,
    onError: (error: unknown) => errors.push(String((error as { code?: string }).code ?? (error as Error).message)),
    handlers: {
      onOther: ({ id }: { id: string }) => {
        ids.push(id);
        for (const { count, resolve } of waiting) if (ids.length >= count) resolve();
      },
    },
    ...more,
  } as StreamOptions;
  const consumer = stream(options);
  t.after(() => consumer.close());
  const until = (count: number) =>
    new Promise<void>((resolve) => (ids.length >= count ? resolve() : waiting.push({ count, resolve })));
  return { consumer, ids, errors, until };
}

test('events are handled in order, and after a break the stream resumes after the last one that was handled', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.commit(journalled(1), journalled(2));
  const positions: number[] = [];
  const { ids, until, consumer } = follow(t, fixture, { after: 0, onPosition: (position) => positions.push(position) });
  await until(2);
  fixture.streams.endAll();
  fixture.commit(journalled(3));
  await until(3);
  fixture.commit(journalled(4));
  await until(4);
  assert.deepEqual(ids, ['e1:1', 'e2:1', 'e3:1', 'e4:1']);
  await consumer.close();
  assert.deepEqual([positions, consumer.position], [[1, 2, 3, 4], 4]);
});

test('with begin: listed, the listed events come first, and what a handler refused comes again', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const ofEvent = (position: number, key: string) => ({
    ...journalled(position),
    key,
    occurrence: 1,
    change: 'scheduled',
  });
  fixture.listed = ['a', 'b'].map((key) => ({ key, occurrence: 1 }));
  fixture.commit(ofEvent(1, 'c'), ofEvent(2, 'b'), ofEvent(3, 'c'), ofEvent(4, 'a'), ofEvent(5, 'c'));
  const tried: string[] = [];
  const refused = ['e2:1', 'e4:1'];
  const done = Promise.withResolvers<void>();
  const onOther = ({ id }: { id: string }) => {
    tried.push(id);
    if (id === refused[0]) throw new Error(`not yet ${refused.shift()}`);
    if (id === 'e6:1') done.resolve();
  };
  const positions: number[] = [];
  const onPosition = (position: number) => positions.push(position);
  const { errors, consumer } = follow(t, fixture, {
    begin: 'listed',
    onPosition,
    handlers: { onOther },
  } as Partial<StreamOptions>);
  fixture.commit(ofEvent(6, 'd'));
  await done.promise;
  assert.deepEqual(errors, ['not yet e2:1', 'not yet e4:1']);
  // After e2 it resumes by position, so what lies between comes too.
  assert.deepEqual(tried, ['e2:1', 'e2:1', 'e4:1', 'e3:1', 'e4:1', 'e5:1', 'e6:1']);
  await consumer.close();
  assert.equal(consumer.position, 6);
  assert.deepEqual(
    positions,
    positions.toSorted((one, other) => one - other),
  );
});

test('with begin: listed and nothing listed, the position comes at once, and after wins over begin', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.commit(journalled(1), journalled(2));
  const known = Promise.withResolvers<number>();
  const { consumer } = follow(t, fixture, { begin: 'listed', onPosition: known.resolve });
  assert.equal(await known.promise, 2);
  assert.equal(consumer.position, 2);
  const { ids, until } = follow(t, fixture, { begin: 'listed', after: 1 });
  await until(1);
  assert.deepEqual(ids, ['e2:1']);
});

test('an event comes again if its handler fails, and no later one is handled before it', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.commit(journalled(1), journalled(2));
  const tried: string[] = [];
  const done = Promise.withResolvers<void>();
  const onOther = ({ id }: { id: string }) => {
    tried.push(id);
    if (tried.length === 1) throw new Error('not yet');
    if (id === 'e2:1') done.resolve();
  };
  const { errors } = follow(t, fixture, { after: 0, handlers: { onOther } } as Partial<StreamOptions>);
  await done.promise;
  assert.deepEqual([tried, errors], [['e1:1', 'e1:1', 'e2:1'], ['not yet']]);
});

test('isDrill depends on the data, and an event with a contradicting attribute reaches no handler', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const text = new TextDecoder().decode(deliveryOf(drillLife().scheduled).bytes);
  const { drill: _, ...bare } = JSON.parse(text) as Record<string, unknown>;
  const event = (position: number, content: string): JournalledEntry => ({
    ...journalled(position),
    bytes: Buffer.from(content),
  });
  fixture.commit(event(1, text), event(2, JSON.stringify({ ...bare, id: 'another' })));
  const shown: (boolean | undefined)[] = [];
  const refused = Promise.withResolvers<string>();
  const onError = (error: unknown) => refused.resolve((error as { code: string }).code);
  const handlers = { onScheduled: ({ isDrill }: CloudEvent) => void shown.push(isDrill) };
  follow(t, fixture, { after: 0, handlers, onError } as Partial<StreamOptions>);
  assert.equal(await refused.promise, 'not-a-cloudevent');
  assert.deepEqual(shown, [true]);
});

test('an event that is not a CloudEvent is reported once and passed, and the next one is handled', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.commit(
    { ...journalled(1), bytes: Buffer.from('{"hello":1}') },
    { ...journalled(2), bytes: Buffer.from('hello') },
    journalled(3),
  );
  const { ids, errors, until, consumer } = follow(t, fixture, { after: 0 });
  await until(1);
  assert.deepEqual([ids, errors], [['e3:1'], ['not-a-cloudevent', 'not-a-cloudevent']]);
  await consumer.close();
  assert.equal(consumer.position, 3);
});

test('if events were pruned, onError is called, and all that the bridge keeps is read', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.pruned = 5;
  fixture.commit(journalled(6));
  const { ids, errors, until } = follow(t, fixture, { after: 2 });
  await until(1);
  assert.deepEqual([ids, errors], [['e6:1'], ['pruned']]);
});

test('a wrong token is reported and the token fetched again; a URL that would expose it is refused at once', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.commit(journalled(1));
  let asked = 0;
  const token = () => (asked++ === 0 ? 'wrong-token-000001' : READER);
  const { errors, until } = follow(t, fixture, { after: 0, token });
  await until(1);
  assert.deepEqual(errors, ['refused']);
  assert.throws(() => stream({ url: 'http://bridge.example', handlers: {} }), { code: 'usage' });
});

/** The frame of one event. */
function frame(position: number): string {
  const { bytes } = journalled(position);
  return `id: ${position}\nevent: other\ndata: ${Buffer.from(bytes)}\n\n`;
}

/** The headers of a stream. */
const STREAM = { 'content-type': 'text/event-stream', 'journal-position': '0' };

test('a page that a proxy serves with 200 is reported as refused, and the next answer of the bridge is read', async (t) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    if (asked.length === 1) response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in</p>');
    else response.writeHead(200, STREAM).write(frame(1));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { ids, errors, until } = follow(t, { port } as HttpFixture);
  await until(1);
  assert.deepEqual([asked, ids, errors], [[undefined, undefined], ['e1:1'], ['refused']]);
});

test('if no byte comes for 45 s, the stream reconnects and resumes after the last handled event', async (t) => {
  const asked: (string | undefined)[] = [];
  const again = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    if (asked.length > 1) again.resolve();
    response.writeHead(200, STREAM).write(asked.length === 1 ? frame(1) : ':\n\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const time = new VirtualTime();
  const errors: string[] = [];
  const handled = Promise.withResolvers<void>();
  const handlers = { onOther: () => {} };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const onError = (error: unknown) => errors.push(String(error));
  const consumer = streamOn(
    { url, handlers, onError, onPosition: () => handled.resolve() },
    dispatcherOn(handlers, memoryHandledStore({}, time)),
    time,
  );
  t.after(async () => {
    await consumer.close();
    server.closeAllConnections();
    server.close();
  });
  await handled.promise;
  await time.advance(44_000);
  assert.deepEqual([asked, errors], [[undefined], []]);
  await time.advance(1000);
  while (asked.length < 2) {
    await new Promise(setImmediate);
    await time.advance(100);
  }
  await again.promise;
  assert.deepEqual(asked, [undefined, '1']);
  assert.match(errors.join(), /no byte came for 45 s/);
});

test('a stream that is closed while it waits for its token does not connect', async (t) => {
  let connections = 0;
  const server = createServer((_, response) => {
    connections += 1;
    response.writeHead(200, STREAM).write(':\n\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const token = Promise.withResolvers<string>();
  const consumer = stream({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: () => token.promise,
    handlers: {},
  });
  const closed = consumer.close();
  token.resolve(READER);
  await closed;
  assert.equal(connections, 0);
});
