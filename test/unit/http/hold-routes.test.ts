// POST /v1/holds, DELETE /v1/holds/EVENT_ID → what is handed on, and its answer.
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { APPROVER, READER, serve } from '../../virtual/http-fixture.ts';

const AUTHORIZATION = { authorization: `Bearer ${APPROVER}` };
const JSON_BODY = { ...AUTHORIZATION, 'content-type': 'application/json' };
const REFUSED = {
  kind: 'refusal',
  status: 404,
  type: 'not-held',
  title: 'No such hold',
  detail: 'Nobody holds it.',
  eventId: 'A',
} as const;

test('a hold is passed on with its caller and the caller’s credential, and returned: 201', async (t) => {
  const fixture = await serve(t);
  const hold = { eventId: 'A', holds: [{ approver: 'orders', reason: 'backup', at: '2026-01-01T00:00:00.000Z' }] };
  fixture.held = () => ({ kind: 'held', status: 201, hold });
  const answer = await fixture.send('POST', '/v1/holds', {
    headers: JSON_BODY,
    body: '{"EventId":"A","reason":"backup"}',
  });
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.json, hold);
  assert.deepEqual(fixture.told, ['hold orders token {"EventId":"A","reason":"backup"}']);
});

test('a hold and a release wait until the StartRequest that is on its way has its answer', async (t) => {
  const fixture = await serve(t);
  const asked: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  fixture.answered = (eventId) => {
    asked.push(eventId);
    if (asked.length === 2) arrived.resolve();
    return promise;
  };
  fixture.held = () => ({ ...REFUSED, status: 409, type: 'submitting' });
  const both = Promise.all([
    fixture.send('POST', '/v1/holds', { headers: JSON_BODY, body: '{"EventId":"A"}' }),
    fixture.send('DELETE', '/v1/holds/B', { headers: AUTHORIZATION }),
  ]);
  await arrived.promise;
  assert.deepEqual(fixture.told, []);
  resolve();
  const [held, released] = await both;
  assert.deepEqual(asked.toSorted(), ['A', 'B']);
  assert.deepEqual([held.status, held.json['type'], released.status], [409, 'submitting', 204]);
});

test('`*` is the hold of everything, which waits for no StartRequest before it stands', async (t) => {
  const fixture = await serve(t);
  fixture.answered = () => assert.fail('it waits');
  const hold = { approver: 'orders', reason: null, at: '2026-01-01T00:00:00.000Z', all: true } as const;
  const told = { eventId: '*', holds: [hold], submitting: ['A'] };
  fixture.heldAll = () => ({ kind: 'held', status: 201, hold: told });
  const held = await fixture.send('POST', '/v1/holds', { headers: JSON_BODY, body: '{"EventId":"*"}' });
  assert.deepEqual([held.status, held.json], [201, told]);
  for (const path of ['/v1/holds/*', '/v1/holds/%2A?approver=ops&before=2026-01-01T00:00:00Z'])
    assert.equal((await fixture.send('DELETE', path, { headers: AUTHORIZATION })).status, 204);
  assert.deepEqual(fixture.told, [
    'hold all orders token null',
    'release all orders null',
    'release all orders ops 1767225600000',
  ]);
  fixture.heldAll = () => ({ ...REFUSED, status: 403, type: 'not-admin' });
  const refused = await fixture.send('POST', '/v1/holds', { headers: JSON_BODY, body: '{"EventId":"*","reason":"x"}' });
  assert.deepEqual([refused.status, refused.json['type']], [403, 'not-admin']);
});

test('a released hold is 204 without a body, type or length', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.send('DELETE', '/v1/holds/A', { headers: AUTHORIZATION });
  assert.deepEqual(
    [
      answer.status,
      answer.text,
      answer.headers['content-length'],
      answer.headers['content-type'],
      answer.headers['transfer-encoding'],
    ],
    [204, '', undefined, undefined, undefined],
  );
  assert.deepEqual(fixture.told, ['release orders A null']);
});

test('the EventId of the path and the approver of the query are decoded', async (t) => {
  const fixture = await serve(t);
  await fixture.send('DELETE', '/v1/holds/a%2Fb%20%C3%A9%2541?approver=bil%6Cing+2&x=1', { headers: AUTHORIZATION });
  await fixture.send('DELETE', `/v1/holds/${'x'.repeat(5000)}`, { headers: AUTHORIZATION });
  assert.deepEqual(fixture.told, ['release orders a/b é%41 billing 2', `release orders ${'x'.repeat(5000)} null`]);
});

test('400 if ?approver= names none, or several', async (t) => {
  const fixture = await serve(t);
  for (const query of ['approver=', 'approver', 'approver=a&approver=b']) {
    const answer = await fixture.send('DELETE', `/v1/holds/A?${query}`, { headers: AUTHORIZATION });
    assert.deepEqual([answer.status, answer.json['type']], [400, 'bad-request'], query);
  }
  assert.deepEqual(fixture.told, []);
});

test('?before= is a time of RFC 3339, otherwise 400', async (t) => {
  const fixture = await serve(t);
  await fixture.send('DELETE', '/v1/holds/A?before=2026-01-01T00:00:00.250Z', { headers: AUTHORIZATION });
  assert.deepEqual(fixture.told, ['release orders A null 1767225600250']);
  for (const query of [
    'before=',
    'before=yesterday',
    'before=2026-01-01',
    'before=2026-01-01T00:00:00Z&before=2026-01-01T00:00:00Z',
  ]) {
    const answer = await fixture.send('DELETE', `/v1/holds/A?${query}`, { headers: AUTHORIZATION });
    assert.deepEqual([answer.status, answer.json['type']], [400, 'bad-request'], query);
  }
  assert.equal(fixture.told.length, 1);
});

test('a refusal of either is a problem', async (t) => {
  const fixture = await serve(t);
  fixture.released = () => REFUSED;
  fixture.held = () => ({ ...REFUSED, status: 409, type: 'submitted' });
  const released = await fixture.send('DELETE', '/v1/holds/A', { headers: AUTHORIZATION });
  assert.deepEqual([released.status, released.json['type'], released.json['eventId']], [404, 'not-held', 'A']);
  const held = await fixture.send('POST', '/v1/holds', { headers: JSON_BODY, body: '{}' });
  assert.deepEqual([held.status, held.json['type'], 'kind' in held.json], [409, 'submitted', false]);
});

test('only approvers can hold or release, and this is checked before the body', async (t) => {
  const fixture = await serve(t);
  const both = async (headers: http.OutgoingHttpHeaders, status: number, type: string) => {
    for (const [method, path] of [
      ['POST', '/v1/holds'],
      ['DELETE', '/v1/holds/A'],
    ] as const) {
      const answer = await fixture.send(method, path, { headers, body: 'x' });
      assert.deepEqual([answer.status, answer.json['type']], [status, type], method);
    }
  };
  await both({}, 401, 'unauthorized');
  await both({ authorization: `Bearer ${READER}` }, 403, 'reader');
  fixture.configured = false;
  await both(AUTHORIZATION, 403, 'no-approvers');
  assert.deepEqual(fixture.told, []);
});

test('415, 413 and 400 of a hold are as those of an approval', async (t) => {
  const fixture = await serve(t);
  const hold = async (headers: http.OutgoingHttpHeaders, body: string) =>
    (await fixture.send('POST', '/v1/holds', { headers: { ...AUTHORIZATION, ...headers }, body })).status;
  assert.equal(await hold({ 'content-type': 'text/plain' }, '{}'), 415);
  assert.equal(await hold({ 'content-type': 'application/json' }, 'x'.repeat(70_000)), 413);
  assert.equal(await hold({ 'content-type': 'application/json' }, '{'), 400);
  assert.deepEqual(fixture.told, []);
});

test('503 with Retry-After while nothing can be stored', async (t) => {
  const fixture = await serve(t);
  const fail = () => {
    throw new BridgeError('BRIDGE_STORE_FULL', 'no room in /var/lib/bridge');
  };
  [fixture.held, fixture.released, fixture.life] = [fail, fail, fail];
  for (const [method, path, words] of [
    ['POST', '/v1/holds', /nothing was recorded/],
    ['DELETE', '/v1/holds/A', /nothing was recorded/],
    ['GET', '/v1/approvals/A', /cannot answer now/],
  ] as const) {
    const answer = await fixture.send(method, path, { headers: JSON_BODY, ...(method === 'POST' && { body: '{}' }) });
    assert.equal(answer.status, 503);
    assert.equal(answer.headers['retry-after'], '5');
    assert.match(String(answer.json['detail']), words);
    assert.doesNotMatch(answer.text, /var.lib/);
  }
});

test('a body of a DELETE is not read, and the connection is kept for the next request', async (t) => {
  const fixture = await serve(t);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const body = 'x'.repeat(300_000);
  assert.equal((await fixture.send('DELETE', '/v1/holds/A', { headers: AUTHORIZATION, body, agent })).status, 204);
  assert.equal((await fixture.send('GET', '/healthz', { agent })).status, 200);
});

test('the record is asked for in parts, by numbers alone', async (t) => {
  const fixture = await serve(t);
  const status = async (query: string) => (await fixture.send('GET', `/v1/approvals/A?${query}`)).status;
  assert.equal(await status('limit=200&after=17'), 200);
  assert.equal(await status('limit=1&other=x'), 200);
  assert.deepEqual(fixture.told, ['life A 17 200', 'life A 0 1']);
  for (const query of [
    'limit=0',
    'limit=201',
    'limit=',
    'limit=x',
    'limit=1&limit=2',
    'after=-1',
    'after=',
    'after=1.5',
    `after=${'9'.repeat(16)}`,
  ])
    assert.equal(await status(query), 400, query);
  assert.equal(fixture.told.length, 2);
});

test('callers who may read events can read the result of an approval', async (t) => {
  const open = await serve(t);
  const answer = await open.send('GET', '/v1/approvals/A%42');
  assert.equal(answer.status, 200);
  assert.equal(answer.json['eventId'], 'A');
  assert.deepEqual(open.told, ['life AB 0 100']);
  assert.equal((await open.send('HEAD', '/v1/approvals/A')).text, '');
  open.life = () => ({ ...REFUSED, type: 'unknown' });
  assert.deepEqual((await open.send('GET', '/v1/approvals/B')).json['type'], 'unknown');
  assert.equal((await open.send('GET', '/v1/approvals/A', { headers: { host: 'evil.example' } })).status, 421);

  const guarded = await serve(t, { requireToken: true });
  assert.equal((await guarded.send('GET', '/v1/approvals/A')).status, 401);
  assert.equal(
    (await guarded.send('GET', '/v1/approvals/A', { headers: { authorization: `Bearer ${READER}` } })).status,
    200,
  );
});
