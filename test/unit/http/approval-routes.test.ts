// POST /v1/approvals → what is handed on, and its answer: results, 202 or a problem.
import assert from 'node:assert/strict';
import test from 'node:test';
import { BridgeError, type ErrorCode } from '../../../src/errors.ts';
import { type Answer, APPROVER, READER, serve } from '../../virtual/http-fixture.ts';

const WAITING = { eventId: 'A', state: 'waiting', approvedBy: ['orders'], waitingFor: ['billing'] } as const;

/** A problem as RFC 9457 writes it, with plain words as its type. */
function assertProblem(answer: Answer, status: number, type: string): void {
  assert.equal(answer.status, status);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  assert.equal(answer.json['type'], type);
  assert.equal(answer.json['status'], status);
  assert.ok(String(answer.json['title']).length > 0);
  assert.ok(String(answer.json['detail']).length > 0);
}

test('an approver’s request is handed on with its name, and the results come back', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.approve();
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.deepEqual(answer.json, { results: [{ eventId: 'A', state: 'submitted', approvedBy: ['orders'] }] });
  assert.deepEqual(fixture.asked, [{ approver: 'orders', body: { StartRequests: [{ EventId: 'A' }] } }]);
});

test('202 if the approvals answer so', async (t) => {
  const fixture = await serve(t);
  fixture.answer = async () => ({ kind: 'results', status: 202, results: [WAITING] });
  const answer = await fixture.approve();
  assert.equal(answer.status, 202);
  assert.deepEqual(answer.json['results'], [WAITING]);
});

test('the refusal of an id is a problem that names it', async (t) => {
  const fixture = await serve(t);
  fixture.answer = async () => ({
    kind: 'refusal',
    status: 409,
    type: 'changed',
    title: 'The event has changed',
    detail: 'Look again.',
    eventId: 'A',
  });
  const answer = await fixture.approve();
  assertProblem(answer, 409, 'changed');
  assert.equal(answer.json['eventId'], 'A');
  assert.equal('kind' in answer.json, false);
});

test('403 before everything else if no approvers are configured', async (t) => {
  const fixture = await serve(t);
  fixture.configured = false;
  assertProblem(await fixture.send('POST', '/v1/approvals', { body: 'x' }), 403, 'no-approvers');
});

test('401 without a token and with a wrong one, before the body is looked at', async (t) => {
  const fixture = await serve(t);
  for (const authorization of [
    '',
    'Bearer',
    'Bearer wrong-token-0001',
    `Basic ${APPROVER}`,
    APPROVER,
    `Bearer ${APPROVER} x`,
  ]) {
    const answer = await fixture.send('POST', '/v1/approvals', { headers: { authorization }, body: 'x' });
    assertProblem(answer, 401, 'unauthorized');
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
  }
  assert.equal(fixture.asked.length, 0);
});

test('the letter case of the scheme does not count', async (t) => {
  const fixture = await serve(t);
  assert.equal((await fixture.approve(undefined, { authorization: `bEARER ${APPROVER}` })).status, 200);
});

test('a reader may not approve: 403, before the body is looked at', async (t) => {
  const fixture = await serve(t);
  assertProblem(
    await fixture.approve('x', { authorization: `Bearer ${READER}`, 'content-type': 'text/plain' }),
    403,
    'reader',
  );
});

test('415 if the body is not declared as JSON, or is compressed', async (t) => {
  const fixture = await serve(t);
  for (const contentType of ['text/plain', '', 'application/jsonp', 'application/x-www-form-urlencoded']) {
    assertProblem(await fixture.approve(undefined, { 'content-type': contentType }), 415, 'not-json');
  }
  assertProblem(await fixture.approve(undefined, { 'content-encoding': 'gzip' }), 415, 'not-json');
  assertProblem(
    await fixture.send('POST', '/v1/approvals', { headers: { authorization: `Bearer ${APPROVER}` } }),
    415,
    'not-json',
  );
  assert.equal((await fixture.approve(undefined, { 'content-type': 'Application/JSON; charset=utf-8' })).status, 200);
});

test('413 over 64 KiB, announced or not, and 64 KiB are taken', async (t) => {
  const fixture = await serve(t);
  const body = (bytes: number) => `{"StartRequests":[],"x":"${'x'.repeat(bytes - 27)}"}`;
  assert.equal(body(65_536).length, 65_536);
  assert.equal((await fixture.approve(body(65_536))).status, 200);
  assertProblem(await fixture.approve(body(65_537)), 413, 'too-large');
  assertProblem(await fixture.approve(body(65_537), { 'transfer-encoding': 'chunked' }), 413, 'too-large');
  assertProblem(await fixture.approve('x'.repeat(5_000_000)), 413, 'too-large');
  assert.equal(fixture.asked.length, 1);
});

test('400 for invalid JSON and invalid UTF-8, without repeating it', async (t) => {
  const fixture = await serve(t);
  for (const body of ['', '{', 'secret words', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]) {
    const answer = await fixture.approve(body);
    assertProblem(answer, 400, 'bad-request');
    assert.doesNotMatch(answer.text, /secret words/);
  }
  assert.equal(fixture.asked.length, 0);
});

test('before the VM is identified, faults of a body are reported, and everything else can be retried', async (t) => {
  const fixture = await serve(t);
  fixture.isIdentified = false;
  const headers = { authorization: `Bearer ${APPROVER}` };
  assert.deepEqual((await fixture.approve('{}')).json['type'], 'bad-request');
  assert.equal((await fixture.approve()).status, 503);
  assert.equal((await fixture.send('GET', '/v1/approvals/A', { headers })).status, 503);
  assert.equal((await fixture.send('DELETE', '/v1/holds/A', { headers })).status, 503);
  assert.deepEqual([fixture.asked, fixture.told], [[], []]);
});

test('503 with Retry-After while nothing can be stored, and while the bridge starts or stops', async (t) => {
  const fixture = await serve(t);
  for (const code of ['BRIDGE_STORE_FULL', 'BRIDGE_APPROVALS_CLOSED', 'BRIDGE_APPROVALS_NOT_READY'] as ErrorCode[]) {
    fixture.answer = () => Promise.reject(new BridgeError(code, 'no room in /var/lib/bridge'));
    const answer = await fixture.approve();
    assertProblem(answer, 503, 'unavailable');
    assert.equal(answer.headers['retry-after'], '5');
    assert.doesNotMatch(answer.text, /var.lib/);
  }
});

test('500 if the bridge itself fails; the cause is in the log and not in the answer', async (t) => {
  const fixture = await serve(t);
  fixture.answer = () => Promise.reject(new TypeError('inner words'));
  const answer = await fixture.approve();
  assertProblem(answer, 500, 'internal');
  assert.doesNotMatch(answer.text, /inner words/);
  assert.match(fixture.log.join(''), /inner words/);
});

test('the 20th failure of an address within a minute gets 429, and a valid token is still accepted', async (t) => {
  const fixture = await serve(t);
  const fail = () => fixture.approve(undefined, { authorization: 'Bearer wrong-token-0001' });
  for (let failure = 1; failure < 20; failure++) assertProblem(await fail(), 401, 'unauthorized');
  await fixture.time.advance(12_000);
  const refused = await fail();
  assertProblem(refused, 429, 'too-many-requests');
  assert.equal(refused.headers['retry-after'], '48');
  assert.equal((await fixture.approve()).status, 200);
  await fixture.time.advance(48_000);
  assertProblem(await fail(), 401, 'unauthorized');
});

test('no token is ever logged or answered', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const wrong = 'wrong-token-00001';
  const texts: string[] = [];
  for (const token of [APPROVER, READER, wrong]) {
    for (const path of ['/v1/approvals', '/v1/events', '/nowhere']) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const answer = await fixture.send(path === '/v1/approvals' ? 'POST' : 'GET', path, { headers, body: '{}' });
      texts.push(answer.text, JSON.stringify(answer.headers));
    }
  }
  const everything = [...texts, ...fixture.log].join('\n');
  for (const token of [APPROVER, READER, wrong]) assert.ok(!everything.includes(token));
});
