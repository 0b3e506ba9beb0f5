// POST /v1/drills, GET and DELETE: who may, and what is answered.
import assert from 'node:assert/strict';
import test from 'node:test';
import { APPROVER, DRILL, READER, serve } from '../../../virtual/http-fixture.ts';

const ADMIN = { authorization: `Bearer ${APPROVER}`, 'content-type': 'application/json' };

test('admins begin and cancel one, readers get its report', async (t) => {
  const fixture = await serve(t, { requireToken: true });
  const reader = { authorization: `Bearer ${READER}`, 'content-type': 'application/json' };
  const begin = (headers: Record<string, string>, body = '{}') => fixture.send('POST', '/v1/drills', { headers, body });
  assert.deepEqual((await begin(reader)).json['type'], 'reader');
  assert.deepEqual((await begin({ ...ADMIN, origin: 'https://evil.example' })).json['type'], 'foreign-page');
  assert.deepEqual((await begin(ADMIN, '{"notice":"2d"}')).status, 400);
  assert.deepEqual(fixture.told, []);
  const begun = await begin(ADMIN);
  assert.deepEqual([begun.status, begun.json], [201, { id: DRILL.id, eventId: DRILL.event.eventId }]);
  const path = `/v1/drills/${DRILL.id.toUpperCase()}`;
  assert.equal((await fixture.send('GET', path)).status, 401);
  assert.equal((await fixture.send('GET', path, { headers: reader })).json['state'], 'ended');
  assert.equal((await fixture.send('DELETE', path, { headers: reader })).status, 403);
  assert.equal((await fixture.send('DELETE', path, { headers: ADMIN })).status, 204);
  assert.equal((await fixture.send('DELETE', '/v1/drills/other', { headers: ADMIN })).json['type'], 'unknown-drill');
  assert.deepEqual(fixture.told, ['drill Reboot 120000 orders', `cancel ${DRILL.id} orders`, 'cancel other orders']);
});

test('refusals of the bridge are 409, and until the VM is identified it is 503', async (t) => {
  const fixture = await serve(t);
  for (const refusal of ['event-listed', 'unnamed'] as const) {
    fixture.drills = { ...fixture.drills, begin: () => refusal };
    const { status, json } = await fixture.send('POST', '/v1/drills', { headers: ADMIN, body: '{}' });
    assert.deepEqual([status, json['type']], [409, refusal]);
  }
  fixture.isIdentified = false;
  for (const [method, path] of [
    ['POST', '/v1/drills'],
    ['GET', `/v1/drills/${DRILL.id}`],
    ['DELETE', `/v1/drills/${DRILL.id}`],
  ] as const)
    assert.equal(
      (await fixture.send(method, path, { headers: ADMIN, ...(method === 'POST' && { body: '{}' }) })).status,
      503,
    );
});
