// GET /v1/caller: who a token is, or nobody, or why it is refused (behaviour 11.23).
import assert from 'node:assert/strict';
import test from 'node:test';
import { APPROVER, READER, serve } from '../../virtual/http-fixture.ts';

const shown = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('it returns the name of an admin, an approver and a reader, and none without credentials', async (t) => {
  const fixture = await serve(t);
  const caller = async (options = {}) => (await fixture.send('GET', '/v1/caller', options)).json;
  assert.deepEqual(await caller(shown(APPROVER)), { name: 'orders', role: 'approver', admin: true });
  assert.deepEqual(await caller(shown(READER)), { name: 'grafana', role: 'reader', admin: false });
  assert.deepEqual(await caller(), { name: null, role: null, admin: false });
  fixture.admin = 'somebody else';
  assert.deepEqual(await caller(shown(APPROVER)), { name: 'orders', role: 'approver', admin: false });
});

test('a wrong token is 401 even if reading needs none; no token is 401 if reading needs one', async (t) => {
  const open = await serve(t);
  assert.equal((await open.send('GET', '/v1/caller', shown('nobody-has-this-token'))).status, 401);
  const closed = await serve(t, { requireToken: true });
  assert.equal((await closed.send('GET', '/v1/caller')).status, 401);
  assert.equal((await closed.send('GET', '/v1/caller', shown(READER))).status, 200);
});

test('under a foreign host name it returns nothing without a token', async (t) => {
  const fixture = await serve(t);
  assert.equal((await fixture.send('GET', '/v1/caller', { headers: { host: 'rebound.example' } })).status, 421);
});
