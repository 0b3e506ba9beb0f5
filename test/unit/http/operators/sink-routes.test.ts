// GET /v1/sinks, pause and resume: who may, and what is answered.
import assert from 'node:assert/strict';
import test from 'node:test';
import { APPROVER, READER, SINK, serve } from '../../../virtual/http-fixture.ts';

const ADMIN = { authorization: `Bearer ${APPROVER}` };

test('readers see the sinks, and admins alone pause and resume one', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const reader = { authorization: `Bearer ${READER}` };
  assert.equal((await fixture.send('GET', '/v1/sinks')).status, 401);
  assert.deepEqual(JSON.parse((await fixture.send('GET', '/v1/sinks', { headers: reader })).text), [SINK]);
  const pause = async (headers: Record<string, string>) => {
    const { status, json } = await fixture.send('POST', '/v1/sinks/hooks/pause', { headers });
    return [status, json['state'] ?? json['type']];
  };
  assert.deepEqual(await pause(reader), [403, 'reader']);
  assert.deepEqual(await pause({ ...ADMIN, origin: 'https://evil.example' }), [403, 'foreign-page']);
  for (const site of ['cross-site', 'same-site'])
    assert.deepEqual(await pause({ ...ADMIN, 'sec-fetch-site': site }), [403, 'foreign-page'], site);
  assert.deepEqual(fixture.told, []);
  assert.deepEqual(await pause(ADMIN), [200, 'paused']);
  assert.equal((await fixture.send('POST', '/v1/sinks/hooks/resume', { headers: ADMIN })).status, 200);
  assert.deepEqual(fixture.told, ['pause hooks orders', 'resume hooks orders']);
  fixture.admin = 'nobody';
  assert.deepEqual(await pause(ADMIN), [403, 'not-admin']);
});

test('a sink that there is not is 404, and so is one without a name', async (t) => {
  const fixture = await serve(t);
  for (const path of ['/v1/sinks/other/pause', '/v1/sinks/other/resume']) {
    const { status, json } = await fixture.send('POST', path, { headers: ADMIN });
    assert.deepEqual([status, json['type']], [404, 'unknown-sink']);
  }
  assert.equal((await fixture.send('POST', '/v1/sinks//pause', { headers: ADMIN })).json['type'], 'not-found');
});

test('a token in the URL is refused on every route of /v1, with its own header or without', async (t) => {
  const fixture = await serve(t);
  for (const path of [
    `/v1/sinks?token=${READER}`,
    `/v1/events?access_token=${READER}`,
    `/v1/sinks/hooks/pause?token=${APPROVER}`,
  ]) {
    const method = path.includes('pause') ? 'POST' : 'GET';
    const { status, json, text } = await fixture.send(method, path, { headers: ADMIN });
    assert.deepEqual([status, json['type']], [400, 'bad-request'], path);
    assert.ok(!text.includes(READER) && !text.includes(APPROVER));
  }
  assert.deepEqual(fixture.told, []);
});
