// Approvals and holds in CloudEvents, structured or binary → their bodies, or 400 and 415.
import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import test from 'node:test';
import { APPROVER, serve } from '../../virtual/http-fixture.ts';

const APPROVAL = { StartRequests: [{ EventId: 'A', Seen: 'a:scheduled' }] };
const HOLD = { EventId: 'A', reason: 'backup' };
const EVENT = {
  specversion: '1.0',
  id: '7',
  source: '/workflow',
  type: 'com.example.answer',
  datacontenttype: 'application/json',
};
const STRUCTURED = 'application/cloudevents+json; charset=utf-8';

async function fixture(t: Parameters<typeof serve>[0]) {
  const served = await serve(t);
  const post = (path: string, contentType: string, value: unknown, headers: OutgoingHttpHeaders = {}) =>
    served.send('POST', path, {
      headers: { authorization: `Bearer ${APPROVER}`, 'content-type': contentType, ...headers },
      body: typeof value === 'string' ? value : JSON.stringify(value),
    });
  return { served, post };
}

function base64(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');
}

test('a CloudEvent in structured mode carries an approval or a hold, in data or data_base64', async (t) => {
  const { served, post } = await fixture(t);
  await post('/v1/approvals', STRUCTURED, { ...EVENT, data: APPROVAL });
  await post('/v1/approvals', 'Application/CloudEvents+JSON', { ...EVENT, data_base64: base64(APPROVAL) });
  await post('/v1/holds', STRUCTURED, { ...EVENT, data: HOLD });
  assert.deepEqual(
    served.asked.map(({ body }) => body),
    [APPROVAL, APPROVAL],
  );
  assert.deepEqual(served.told, [`hold orders token ${JSON.stringify(HOLD)}`]);
});

test('in binary mode the body is the approval, and the attributes are its headers', async (t) => {
  const { served, post } = await fixture(t);
  const headers = { 'ce-specversion': '1.0', 'ce-id': '7', 'ce-source': '/workflow', 'ce-type': 'com.example.answer' };
  assert.equal((await post('/v1/approvals', 'application/json', APPROVAL, headers)).status, 200);
  assert.equal((await post('/v1/holds', 'application/json', HOLD, headers)).status, 201);
  assert.deepEqual(served.asked, [{ approver: 'orders', body: APPROVAL }]);
});

test('the token names the approver, for any claim of the event', async (t) => {
  const { served, post } = await fixture(t);
  await post('/v1/approvals', STRUCTURED, {
    ...EVENT,
    source: 'billing',
    approver: 'billing',
    data: { ...APPROVAL, approver: 'billing' },
  });
  assert.equal(served.asked[0]?.approver, 'orders');
});

test('an envelope that cannot be opened is 400 and says why, without repeating it', async (t) => {
  const { served, post } = await fixture(t);
  const faults: readonly (readonly [unknown, RegExp])[] = [
    ['{"secret words"', /not valid JSON/],
    ['"secret words"', /not a CloudEvent/],
    ['null', /not a CloudEvent/],
    [APPROVAL, /specversion/],
    [{ ...EVENT, specversion: '0.3', data: APPROVAL }, /specversion/],
    [EVENT, /without data/],
    [{ ...EVENT, data: APPROVAL, data_base64: base64(APPROVAL) }, /both data and data_base64/],
    [{ ...EVENT, data_base64: 'secret words' }, /not Base64/],
    [{ ...EVENT, data_base64: 7 }, /not Base64/],
    [{ ...EVENT, data_base64: base64('{"secret words') }, /data of its CloudEvent is not valid JSON/],
  ];
  for (const [body, words] of faults) {
    const answer = await post('/v1/approvals', STRUCTURED, body);
    assert.deepEqual([answer.status, answer.json['type']], [400, 'bad-request'], JSON.stringify(body));
    assert.match(String(answer.json['detail']), words);
    assert.doesNotMatch(answer.text, /secret words/);
  }
  assert.deepEqual(served.asked, []);
});

test('a ce-specversion other than 1.0 is 400, also with structured mode', async (t) => {
  const { served, post } = await fixture(t);
  for (const [type, body] of [
    ['application/json', APPROVAL],
    [STRUCTURED, { ...EVENT, data: APPROVAL }],
  ] as const) {
    const answer = await post('/v1/approvals', type, body, { 'ce-specversion': '0.3' });
    assert.deepEqual([answer.status, answer.json['type']], [400, 'bad-request']);
    assert.match(String(answer.json['detail']), /ce-specversion/);
  }
  assert.deepEqual(served.asked, []);
});

test('a batch of CloudEvents, and one in another format, is 415', async (t) => {
  const { post } = await fixture(t);
  for (const type of [
    'application/cloudevents-batch+json',
    'application/cloudevents+avro',
    'application/cloudevents',
  ]) {
    const answer = await post('/v1/approvals', type, [{ ...EVENT, data: APPROVAL }]);
    assert.deepEqual([answer.status, answer.json['type']], [415, 'not-json'], type);
  }
});

test('an approval that also holds or releases is 400 and names the right route, so that no hold is ignored', async (t) => {
  const { served, post } = await fixture(t);
  for (const more of [{ Holds: [HOLD] }, { Releases: [] }]) {
    for (const answer of [
      await post('/v1/approvals', 'application/json', { ...APPROVAL, ...more }),
      await post('/v1/approvals', STRUCTURED, { ...EVENT, data: { ...APPROVAL, ...more } }),
    ]) {
      assert.deepEqual([answer.status, answer.json['type']], [400, 'bad-request']);
      assert.match(String(answer.json['detail']), /POST \/v1\/holds/);
    }
  }
  assert.deepEqual(served.asked, []);
});

test('a member that is null counts as absent, in every form of a body', async (t) => {
  const { served, post } = await fixture(t);
  const entry = { EventId: 'A', Seen: null, seen: null };
  const body = { StartRequests: [entry], Holds: null, Releases: null, Seen: null };
  const base64 = Buffer.from(JSON.stringify(body)).toString('base64');
  for (const [type, sent] of [
    ['application/json', { ...body, specversion: null, data: null }],
    [STRUCTURED, { ...EVENT, data: body, data_base64: null, time: null }],
    [STRUCTURED, { ...EVENT, data: null, data_base64: base64 }],
  ] as const) {
    const answer = await post('/v1/approvals', type, sent);
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
  }
  assert.deepEqual(
    served.asked.map(({ body: taken }) => taken),
    Array(3).fill({ StartRequests: [{ EventId: 'A' }] }),
  );
});

test('a body that is nested very deeply is 400', async (t) => {
  const { post } = await fixture(t);
  for (const deep of [`${'['.repeat(32_000)}${']'.repeat(32_000)}`, `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`])
    assert.equal((await post('/v1/approvals', 'application/json', deep)).status, 400);
});

test('a CloudEvent that is sent as plain JSON gets the right media type in the answer', async (t) => {
  const { served, post } = await fixture(t);
  const answer = await post('/v1/approvals', 'application/json', { ...EVENT, data: APPROVAL });
  assert.deepEqual([answer.status, answer.json['type']], [400, 'bad-request']);
  assert.match(String(answer.json['detail']), /application\/cloudevents\+json/);
  assert.deepEqual(served.asked, []);
  assert.equal(
    (await post('/v1/approvals', 'application/json', { ...APPROVAL, specversion: '1.0', data: null })).status,
    200,
  );
});
