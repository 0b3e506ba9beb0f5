// GET of health, readiness, metrics and events → what each caller may read.
import assert from 'node:assert/strict';
import test from 'node:test';
import { APPROVER, DETAILS, NO_EVENTS, READER, serve } from '../../virtual/http-fixture.ts';

test('healthz answers while the process works', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.send('GET', '/healthz');
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, { status: 'ok' });
  assert.equal(answer.headers['cache-control'], 'no-store');
});

test('readyz is 200 or 503, and says why', async (t) => {
  const fixture = await serve(t);
  assert.equal((await fixture.send('GET', '/readyz')).status, 200);
  fixture.readiness = () => ({ ready: false, reasons: ['no good document for 75 s'], details: DETAILS });
  const answer = await fixture.send('GET', '/readyz');
  assert.equal(answer.status, 503);
  assert.deepEqual(answer.json, { ready: false, reasons: ['no good document for 75 s'], ...DETAILS });
});

test('without the right to read, readyz shows only whether it is ready', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const asked: boolean[] = [];
  fixture.readiness = (isWhole) => {
    asked.push(isWhole);
    return { ready: true, reasons: [], details: DETAILS };
  };
  const get = (token?: string) =>
    fixture.send('GET', '/readyz', { headers: token ? { authorization: `Bearer ${token}` } : {} });
  for (let probe = 0; probe < 30; probe++) assert.equal((await get()).status, 200);
  assert.equal((await get('wrong-token-0001')).status, 200);
  assert.ok(asked.every((isWhole) => !isWhole));
  assert.equal((await get(READER)).status, 200);
  assert.equal(asked.at(-1), true);
  assert.equal((await fixture.send('GET', '/v1/events')).status, 401, 'probes are no failed log-ins');
});

test('on loopback readyz shows all, unless under a foreign name, which a web page could point here', async (t) => {
  const fixture = await serve(t);
  const asked: boolean[] = [];
  fixture.readiness = (isWhole) => {
    asked.push(isWhole);
    return { ready: true, reasons: [], details: DETAILS };
  };
  await fixture.send('GET', '/readyz');
  await fixture.send('GET', '/readyz', { headers: { host: 'evil.example' } });
  assert.deepEqual(asked, [true, false]);
});

test('drainz is 200 while the machine serves, 503 while it drains, 404 if it is not configured; none needs a token', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const ask = async () => {
    const { status, json } = await fixture.send('GET', '/drainz');
    return [status, json];
  };
  assert.equal((await ask())[0], 404);
  fixture.drain = () => ({ state: 'serving' });
  assert.deepEqual(await ask(), [200, { state: 'serving' }]);
  const draining = { state: 'draining', eventId: 'A', impact: 'reboot', notBefore: null } as const;
  fixture.drain = () => draining;
  assert.deepEqual(await ask(), [503, draining]);
});

test('metrics come as the library writes them', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.send('GET', '/metrics');
  assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4');
  assert.equal(answer.text, 'scheduled_events_bridge_polls_total 7\n');
});

test('events stand open on loopback without readers, also with a query', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.send('GET', '/v1/events?pretty=1');
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, { ...NO_EVENTS, documentIncarnation: 3, observedAt: '2026-01-01T00:00:00Z' });
});

test('if a token is required, those of readers and approvers are accepted, and nothing else', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const get = (headers: Record<string, string>) => fixture.send('GET', '/v1/events', { headers });
  assert.equal((await get({})).status, 401);
  assert.equal((await get({ authorization: 'Bearer wrong-token-0001' })).status, 401);
  assert.equal((await get({ authorization: `Bearer ${READER}` })).status, 200);
  assert.equal((await get({ authorization: `Bearer ${APPROVER}` })).status, 200);
  assert.equal((await get({ authorization: `Bearer ${READER}`, host: 'bridge.example.com' })).status, 200);
});

test('what stands open is not read under a foreign name, as a web page could make it point here', async (t) => {
  const fixture = await serve(t);
  const status = async (host: string) => (await fixture.send('GET', '/v1/events', { headers: { host } })).status;
  for (const host of [
    'evil.example',
    'evil.example:8700',
    '127.0.0.1.evil.example',
    '10.0.0.5',
    '[fe80::1]',
    'localhost.evil.example',
  ]) {
    assert.equal(await status(host), 421, host);
  }
  for (const host of ['localhost', 'LOCALHOST:8700', '127.0.0.1', '127.3.2.1:80', '[::1]:8700'])
    assert.equal(await status(host), 200, host);
});

test('under a foreign name a reader’s token reads what stands open, as through a proxy that keeps the Host; a wrong one is 401', async (t) => {
  const fixture = await serve(t);
  const status = async (token: string) =>
    (
      await fixture.send('GET', '/v1/events', {
        headers: { host: 'bridge.example.com', authorization: `Bearer ${token}` },
      })
    ).status;
  assert.equal(await status(READER), 200);
  assert.equal(await status('wrong-token-0001'), 401);
});

test('an unknown path is a problem, 404; a known one with another method 405 with what is allowed', async (t) => {
  const fixture = await serve(t);
  for (const path of [
    '/',
    '/v1',
    '/v1/event',
    '/v1/events/',
    '/v1/approvals/',
    '/v1/holds/',
    '/v1/holds/a/b',
    '//v1/events',
  ]) {
    const answer = await fixture.send('GET', path);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.headers['content-type'], 'application/problem+json');
  }
  const wrong = await fixture.send('PUT', '/v1/approvals');
  assert.deepEqual([wrong.status, wrong.headers.allow, wrong.json['type']], [405, 'POST', 'method-not-allowed']);
  const allowed = async (method: string, path: string) => (await fixture.send(method, path)).headers.allow;
  assert.equal(await allowed('GET', '/v1/approvals'), 'POST');
  assert.equal(await allowed('POST', '/v1/events'), 'GET, HEAD');
  assert.equal(await allowed('DELETE', '/v1/events'), 'GET, HEAD');
  assert.equal(await allowed('HEAD', '/v1/holds'), 'POST');
  assert.equal(await allowed('GET', '/v1/holds/A'), 'DELETE');
  assert.equal(await allowed('DELETE', '/v1/approvals/A'), 'GET, HEAD');
  assert.equal((await fixture.send('OPTIONS', '/v1/events')).headers['access-control-allow-origin'], undefined);
});

test('HEAD answers as GET does, without the body', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.send('HEAD', '/healthz');
  assert.deepEqual([answer.status, answer.headers['content-length'], answer.text], [200, '15', '']);
});

test('an invalid escape in the path, or one that is not UTF-8, is a problem, 400', async (t) => {
  const fixture = await serve(t);
  for (const [method, path] of [
    ['GET', '/v1/approvals/%zz'],
    ['DELETE', '/v1/holds/%ff'],
    ['GET', '/v1/approvals/A%'],
  ] as const) {
    const answer = await fixture.send(method, path, { headers: { authorization: `Bearer ${APPROVER}` } });
    assert.deepEqual([answer.status, answer.json['type']], [400, 'bad-request'], path);
  }
  assert.deepEqual(fixture.told, []);
});
