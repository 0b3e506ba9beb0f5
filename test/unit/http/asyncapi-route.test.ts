// GET /v1/asyncapi.json → the document for readers, and for nobody else.
import assert from 'node:assert/strict';
import test from 'node:test';
import { READER, serve } from '../../virtual/http-fixture.ts';

test('it is served to readers as JSON', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const answer = await fixture.send('GET', '/v1/asyncapi.json', { headers: { Authorization: `Bearer ${READER}` } });
  assert.deepEqual(
    [answer.status, answer.headers['content-type'], answer.json],
    [200, 'application/json', fixture.asyncApi],
  );
  assert.equal((await fixture.send('GET', '/v1/asyncapi.json')).status, 401);
});
