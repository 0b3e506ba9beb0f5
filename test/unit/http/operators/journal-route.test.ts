// GET /v1/journal: the range that is asked for, pages that are whole, and what is refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JournalRange } from '../../../../src/model/operators.ts';
import { poll } from '../../../support/poll.ts';
import { rawConnection } from '../../../support/raw-connection.ts';
import { serve } from '../../../virtual/http-fixture.ts';

const RUNNING = { since: '1970-01-01T00:00:00.007Z', attempt: 2, last: 'connections left: 3' };

function item(position: number, bytes = '{"id":"a"}') {
  const deliveries = [
    { seq: 1, sink: 'hooks', state: 'queued', attempts: 0, atMs: 5, status: null },
    { seq: 2, sink: 'drain', state: 'queued', attempts: 1, atMs: 5, status: 3 },
  ] as const;
  return { position, atMs: 1000, bytes: new TextEncoder().encode(bytes), deliveries };
}

test('the query takes an event, a span of time and a page, and each item has its deliveries', async (t) => {
  const fixture = await serve(t);
  const asked: JournalRange[] = [];
  fixture.operations = {
    ...fixture.operations,
    journal: (range) => {
      asked.push(range);
      return { items: [item(5)], next: null };
    },
    running: () => new Map([[2, RUNNING]]),
  };
  const path = '/v1/journal?event=ABC&since=1970-01-01T00:00:01Z&until=1970-01-01T00:00:02.500Z&limit=7&after=4';
  const { json } = await fixture.send('GET', path);
  assert.deepEqual(asked, [{ eventKey: 'abc', sinceMs: 1000, untilMs: 2500, limit: 8, after: 4, maxBytes: 262_144 }]);
  const queued = { state: 'queued', at: '1970-01-01T00:00:00.005Z' };
  const deliveries = [
    { sink: 'hooks', ...queued, attempts: 0, status: null, running: null },
    { sink: 'drain', ...queued, attempts: 1, status: 3, running: RUNNING },
  ];
  assert.deepEqual(json, {
    items: [{ position: 5, at: '1970-01-01T00:00:01.000Z', event: { id: 'a' }, deliveries }],
    next: null,
  });
});

test('a page is filled in several steps; next is null after the last, and it ends early after many bytes', async (t) => {
  const fixture = await serve(t);
  const serveRows = (count: number, text?: string) => {
    const rows = Array.from({ length: count }, (_, index) => item(index + 1, text));
    fixture.operations = {
      ...fixture.operations,
      journal: ({ after, limit }) => {
        const items = rows.filter(({ position }) => position > after).slice(0, Math.min(limit, 3));
        const last = items.at(-1)?.position ?? count;
        return { items, next: last < count ? last : null };
      },
    };
  };
  const ask = async (query: string) => {
    const { json } = await fixture.send('GET', `/v1/journal?${query}`);
    return [(json['items'] as object[]).length, json['next']];
  };
  serveRows(20);
  assert.deepEqual(await ask('limit=10'), [10, 10]);
  assert.deepEqual(await ask('limit=10&after=10'), [10, null]);
  assert.deepEqual(await ask('limit=1000'), [20, null]);
  serveRows(10, JSON.stringify({ text: 'x'.repeat(100_000) }));
  assert.deepEqual(await ask('limit=10'), [2, 2]);
  serveRows(10, JSON.stringify({ text: 'x'.repeat(1_000_000) }));
  assert.deepEqual(await ask('limit=10'), [1, 1]);
  assert.deepEqual(await ask('limit=10&after=9'), [1, null]);
});

test('a page has at most 256 KiB, for any content', async (t) => {
  const fixture = await serve(t);
  const rows = Array.from({ length: 1000 }, (_, index) =>
    item(index + 1, JSON.stringify({ text: '€'.repeat(index % 1500) })),
  );
  fixture.operations = {
    ...fixture.operations,
    journal: ({ after, limit }) => {
      const items = rows.slice(after, after + limit);
      return { items, next: after + limit < rows.length ? (items.at(-1)?.position ?? null) : null };
    },
  };
  const positions: number[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { text, json } = await fixture.send('GET', `/v1/journal?limit=1000&after=${after}`);
    assert.ok(Buffer.byteLength(text) <= 256 * 1024 + 100, String(Buffer.byteLength(text)));
    positions.push(...(json['items'] as { position: number }[]).map(({ position }) => position));
    after = json['next'] as number | null;
  }
  assert.deepEqual(
    positions,
    rows.map(({ position }) => position),
  );
});

test('one page is made at a time, callers of other addresses have their turn in between, and a caller that has disconnected has none', async (t) => {
  const fixture = await serve(t);
  const steps: string[] = [];
  let isHeld = true;
  fixture.operations = {
    ...fixture.operations,
    // The first page lasts until the test says so; the others take two steps.
    journal: ({ eventKey, after }) => {
      if (eventKey === 'first') return { items: [], next: isHeld ? after + 1 : null };
      steps.push(`${eventKey} ${after}`);
      return { items: [item(after + 1)], next: after === 0 ? 1 : null };
    },
  };
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const ask = async (event: string, localAddress: string) => {
    const connection = (await rawConnection(t, fixture.port, { localAddress })).send(request('/healthz')).read();
    await connection.answers(1);
    return connection.send(request(`/v1/journal?event=${event}`));
  };
  // What was sent before has been read by then.
  const settled = async () => {
    for (let count = 0; count < 3; count++) await fixture.send('GET', '/healthz');
  };
  const first = await ask('first', '127.0.0.2');
  await settled();
  const staying = [await ask('a1', '127.0.0.2'), await ask('a2', '127.0.0.2')];
  const leaving = [await ask('a3', '127.0.0.2'), await ask('b1', '127.0.0.3')];
  const last = await ask('c1', '127.0.0.4');
  await settled();
  leaving[0]?.socket.resetAndDestroy();
  leaving[1]?.socket.end();
  await settled();
  assert.deepEqual(steps, []);
  isHeld = false;
  for (const connection of [first, ...staying, last]) await connection.answers(2);
  assert.deepEqual(steps, ['a1 0', 'a1 1', 'c1 0', 'c1 1', 'a2 0', 'a2 1']);
});

test('a page is not completed after its caller has disconnected', async (t) => {
  const fixture = await serve(t);
  let asked = 0;
  fixture.operations = { ...fixture.operations, journal: ({ after }) => ({ items: [], next: after + ++asked }) };
  const connection = await rawConnection(t, fixture.port);
  connection.send('GET /v1/journal HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await poll(() => asked > 0, 'the first step');
  connection.socket.destroy();
  assert.equal((await fixture.send('GET', '/v1/sinks')).status, 200);
  const atEnd = asked;
  await fixture.send('GET', '/healthz');
  assert.equal(asked, atEnd);
});

test('an invalid event, time, limit or position is 400', async (t) => {
  const fixture = await serve(t);
  const faults = [
    'event=',
    'event=a&event=b',
    'since=yesterday',
    'until=2026',
    'limit=0',
    'limit=1001',
    'after=x',
    'from=1',
  ];
  for (const query of faults) assert.equal((await fixture.send('GET', `/v1/journal?${query}`)).status, 400, query);
});
