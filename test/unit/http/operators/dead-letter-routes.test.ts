// GET /v1/dead-letters by pages, retry and discard of all that are named or none.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { DeadLetterRange } from '../../../../src/model/operators.ts';
import { APPROVER, type HttpFixture, READER, serve } from '../../../virtual/http-fixture.ts';

const LETTER = {
  eventId: null,
  eventType: null,
  resources: [],
  sink: 'hooks',
  type: 't',
  reason: 'expired',
  status: null,
  attempts: 0,
  at: '2026-01-01T00:00:00Z',
} as const;

function post(fixture: HttpFixture, act: string, body: string, token = APPROVER) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fixture.send('POST', `/v1/dead-letters/${act}`, { headers, body });
}

test('a page names the start of the next one, and the last page has none', async (t) => {
  const fixture = await serve(t);
  const asked: DeadLetterRange[] = [];
  fixture.operations = {
    ...fixture.operations,
    deadLetters: (range) => {
      asked.push(range);
      // One letter a step, as where CloudEvents are large.
      const [row, ...others] = [4, 7, 9].filter((each) => each > range.after);
      return {
        items: row === undefined ? [] : [{ id: `e${row}`, ...LETTER }],
        next: others.length === 0 ? null : (row ?? null),
      };
    },
  };
  const first = await fixture.send('GET', '/v1/dead-letters?limit=2&after=3&sink=hooks');
  assert.deepEqual(
    [first.json['next'], (first.json['items'] as { id: string }[]).map(({ id }) => id)],
    [7, ['e4', 'e7']],
  );
  assert.deepEqual(asked, [
    { sink: 'hooks', after: 3, limit: 2, maxBytes: 262_144 },
    { sink: 'hooks', after: 4, limit: 1, maxBytes: 262_144 },
  ]);
  const all = (await fixture.send('GET', '/v1/dead-letters')).json;
  assert.deepEqual([all['next'], (all['items'] as object[]).length], [null, 3]);
});

test('an invalid limit or after, and an unknown parameter, is 400 and says what is allowed', async (t) => {
  const fixture = await serve(t);
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=1&limit=2',
    'after=-1',
    'after=',
    'sink=',
    'sinks=a',
  ]) {
    const { status, json } = await fixture.send('GET', `/v1/dead-letters?${query}`);
    assert.deepEqual([status, json['type']], [400, 'bad-request'], query);
  }
  assert.match(String((await fixture.send('GET', '/v1/dead-letters?limit=0')).json['detail']), /from 1 to 1000/);
});

test('an admin retries and discards what it names; a reader does not, and an unknown sink or id is 404', async (t) => {
  const fixture = await serve(t);
  const body = '{"sink":"hooks","ids":["a:1","b:1","a:1"]}';
  assert.equal((await post(fixture, 'retry', body, READER)).status, 403);
  const { status, json } = await post(fixture, 'retry', body);
  assert.deepEqual([status, json], [200, { count: 2 }]);
  assert.deepEqual((await post(fixture, 'discard', body)).json, { count: 2 });
  assert.deepEqual(fixture.told, ['retry hooks a:1 b:1 orders', 'discard hooks a:1 b:1 orders']);
  assert.equal((await post(fixture, 'retry', '{"sink":"x","ids":["a:1"]}')).json['type'], 'unknown-sink');
  fixture.operations = { ...fixture.operations, decide: () => ['b:1', 'c:1'] };
  const unknown = await post(fixture, 'retry', body);
  assert.deepEqual([unknown.status, unknown.json['type']], [404, 'no-dead-letter']);
  assert.match(String(unknown.json['detail']), /Nothing was done: "b:1" and 1 more/);
});

test('a body that is not a sink with 1 to 1000 ids is 400, and nothing is done', async (t) => {
  const fixture = await serve(t);
  const many = JSON.stringify({ sink: 'hooks', ids: Array.from({ length: 1001 }, (_, index) => `${index}`) });
  const bodies = [
    '[]',
    '{}',
    '{"sink":"hooks"}',
    '{"sink":"hooks","ids":[]}',
    '{"sink":"hooks","ids":[1]}',
    '{"sink":"","ids":["a"]}',
    many,
  ];
  for (const body of [...bodies, '{"sink":"hooks","ids":["a"],"all":true}', '{"sink":"hooks","ids":"a"}', 'null'])
    assert.equal((await post(fixture, 'discard', body)).status, 400, body.slice(0, 50));
  assert.deepEqual(fixture.told, []);
});
