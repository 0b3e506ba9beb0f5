// GET /v1/journal: the range that is asked for, pages that are whole, and what is refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JournalRange } from '../../../../src/model/operators.ts';
import { serve } from '../../../virtual/http-fixture.ts';

function item(position: number, bytes = '{"id":"a"}') {
  const deliveries = [{ sink: 'hooks', state: 'queued', attempts: 0, atMs: 5, status: null }] as const;
  return { position, atMs: 1000, bytes: new TextEncoder().encode(bytes), deliveries };
}

test('an event, a span of time and a page are asked for, and each item tells of its deliveries', async (t) => {
  const fixture = await serve(t);
  const asked: JournalRange[] = [];
  fixture.operations = {
    ...fixture.operations,
    journal: (range) => {
      asked.push(range);
      return { items: [item(5)], next: null };
    },
  };
  const path = '/v1/journal?event=ABC&since=1970-01-01T00:00:01Z&until=1970-01-01T00:00:02.500Z&limit=7&after=4';
  const { json } = await fixture.send('GET', path);
  assert.deepEqual(asked, [{ eventKey: 'abc', sinceMs: 1000, untilMs: 2500, limit: 8, after: 4 }]);
  const deliveries = [{ sink: 'hooks', state: 'queued', attempts: 0, status: null, at: '1970-01-01T00:00:00.005Z' }];
  assert.deepEqual(json, { items: [{ position: 5, at: '1970-01-01T00:00:01.000Z', event: { id: 'a' }, deliveries }], next: null });
});

test('a page is filled over several steps; next is null after the last, and it ends early where much has been told', async (t) => {
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
  serveRows(10, JSON.stringify({ text: 'x'.repeat(1_000_000) }));
  assert.deepEqual(await ask('limit=10'), [5, 5]);
});

test('what is no event, time, limit or position is 400', async (t) => {
  const fixture = await serve(t);
  const faults = ['event=', 'event=a&event=b', 'since=yesterday', 'until=2026', 'limit=0', 'limit=1001', 'after=x', 'from=1'];
  for (const query of faults) assert.equal((await fixture.send('GET', `/v1/journal?${query}`)).status, 400, query);
});
