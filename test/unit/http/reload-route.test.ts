// POST /v1/reload: who may, and each outcome as an answer.
import assert from 'node:assert/strict';
import test from 'node:test';
import { BridgeError } from '../../../src/errors.ts';
import { APPROVER, READER, serve } from '../../virtual/http-fixture.ts';

const ADMIN = { authorization: `Bearer ${APPROVER}` };

test('an admin needs no body, is passed on by name, and gets the paths that differ', async (t) => {
  const fixture = await serve(t);
  const by: string[] = [];
  fixture.reload = async (name) => {
    by.push(name);
    return { kind: 'applied', changed: ['sinks.hooks.url'] };
  };
  const answer = await fixture.send('POST', '/v1/reload', { headers: ADMIN });
  assert.deepEqual([answer.status, answer.json], [200, { changed: ['sinks.hooks.url'] }]);
  assert.deepEqual(by, ['orders']);
});

test('other callers are refused: no token 401, a reader 403, an approver without admin 403, no approvers configured 403', async (t) => {
  const fixture = await serve(t);
  fixture.reload = async () => assert.fail('it was reloaded');
  const ask = async (headers: Record<string, string>) => {
    const { status, json } = await fixture.send('POST', '/v1/reload', { headers });
    return [status, json['type']];
  };
  assert.deepEqual(await ask({}), [401, 'unauthorized']);
  assert.deepEqual(await ask({ authorization: `Bearer ${READER}` }), [403, 'reader']);
  fixture.admin = 'somebody else';
  assert.deepEqual(await ask(ADMIN), [403, 'not-admin']);
  fixture.configured = false;
  assert.deepEqual(await ask(ADMIN), [403, 'no-approvers']);
});

test('a page of another site is refused, with any credential of the browser; one of this host is accepted', async (t) => {
  const fixture = await serve(t);
  const from = async (origin: string) =>
    (await fixture.send('POST', '/v1/reload', { headers: { ...ADMIN, origin } })).status;
  assert.equal(await from('https://evil.example'), 403);
  assert.equal(await from('null'), 403);
  assert.equal(await from(`http://127.0.0.1:${fixture.port}`), 200);
});

test('faults are 422 with each of them, what needs a restart is 409 with each key, and no file is 409', async (t) => {
  const fixture = await serve(t);
  const ask = async () => {
    const { status, headers, json } = await fixture.send('POST', '/v1/reload', { headers: ADMIN });
    assert.equal(headers['content-type'], 'application/problem+json');
    return { status, json };
  };
  const faults = [
    { path: 'sinks.hooks.url', message: 'is missing' },
    { path: 'sink', message: 'is not a key of the configuration', allowed: 'sinks', suggestion: 'sinks' },
  ];
  fixture.reload = async () => ({ kind: 'faulty', faults });
  const faulty = await ask();
  assert.deepEqual([faulty.status, faulty.json['type'], faulty.json['faults']], [422, 'faulty-configuration', faults]);
  fixture.reload = async () => ({ kind: 'needs-restart', restart: ['http.listen', 'store'] });
  const restart = await ask();
  assert.deepEqual(
    [restart.status, restart.json['type'], restart.json['restart']],
    [409, 'needs-restart', ['http.listen', 'store']],
  );
  assert.match(String(restart.json['detail']), /http\.listen, store/);
  fixture.reload = async () => ({ kind: 'no-file' });
  assert.deepEqual((await ask()).json['type'], 'no-file');
  fixture.reload = async () => {
    throw new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  };
  assert.equal((await ask()).status, 503);
});

test('another method is 405', async (t) => {
  const fixture = await serve(t);
  const answer = await fixture.send('GET', '/v1/reload', { headers: ADMIN });
  assert.deepEqual([answer.status, answer.headers['allow']], [405, 'POST']);
});
