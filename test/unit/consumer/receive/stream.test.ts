// The stream of a bridge → handlers: each once and in order, over breaks, failures and gaps.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type StreamOptions, stream } from '../../../../src/consumer.ts';
import type { JournalledEntry } from '../../../../src/model/events.ts';
import { type HttpFixture, READER, serve } from '../../../virtual/http-fixture.ts';
import { entry } from '../../../virtual/outbox-fixture.ts';

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
  const until = (count: number) => new Promise<void>((resolve) => (ids.length >= count ? resolve() : waiting.push({ count, resolve })));
  return { consumer, ids, errors, until };
}

test('events are handled in order, and a break goes on behind the last that was handled', async (t) => {
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

test('an event whose handler fails comes again, and none behind it is taken before', async (t) => {
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

test('where something was pruned the application is told, and all that is kept comes', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.pruned = 5;
  fixture.commit(journalled(6));
  const { ids, errors, until } = follow(t, fixture, { after: 2 });
  await until(1);
  assert.deepEqual([ids, errors], [['e6:1'], ['pruned']]);
});

test('a wrong token is told and asked with again; a URL that would show it is refused at once', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  fixture.commit(journalled(1));
  let asked = 0;
  const token = () => (asked++ === 0 ? 'wrong-token-000001' : READER);
  const { errors, until } = follow(t, fixture, { after: 0, token });
  await until(1);
  assert.deepEqual(errors, ['refused']);
  assert.throws(() => stream({ url: 'http://bridge.example', handlers: {} }), { code: 'usage' });
});
